// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * {@code bin/bench scale}: how many locks a second an ensemble gives. {@link dev.zkrecipes.bench.scale.ScaleRun} plays
 * the turns: {@link dev.zkrecipes.bench.scale.Ensemble} has the servers, in JVMs of
 * their own, and {@link dev.zkrecipes.bench.scale.Crowd} the sessions.
 */
@NullMarked
package dev.zkrecipes.bench.scale;

import org.jspecify.annotations.NullMarked;
