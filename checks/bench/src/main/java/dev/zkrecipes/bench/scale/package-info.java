// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * {@code bin/bench scale}: measures how many locks a second an ensemble grants.
 * {@link dev.zkrecipes.bench.scale.ScaleRun} runs the measurement turn by turn.
 * {@link dev.zkrecipes.bench.scale.Ensemble} is the servers, in JVMs of their own, and
 * {@link dev.zkrecipes.bench.scale.Crowd} is the sessions.
 */
@NullMarked
package dev.zkrecipes.bench.scale;

import org.jspecify.annotations.NullMarked;
