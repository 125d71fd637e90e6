// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * What all measurements share: {@link dev.zkrecipes.bench.runner.Crew} runs the threads that repeat their work,
 * {@link dev.zkrecipes.bench.runner.RemoteJvm} is another JVM with an object in it, and
 * {@link dev.zkrecipes.bench.runner.BenchServer} is the server that counts requests and events.
 */
@NullMarked
package dev.zkrecipes.bench.runner;

import org.jspecify.annotations.NullMarked;
