// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * What all measurements run on: {@link dev.zkrecipes.bench.runner.Crew} is the threads that repeat their work, {@link
 * dev.zkrecipes.bench.runner.RemoteJvm} another JVM with an object in it, {@link
 * dev.zkrecipes.bench.runner.BenchServer} the server that counts.
 */
@NullMarked
package dev.zkrecipes.bench.runner;

import org.jspecify.annotations.NullMarked;
