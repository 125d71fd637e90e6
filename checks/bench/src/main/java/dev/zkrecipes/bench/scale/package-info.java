// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * {@code bin/bench scale}: how many locks a second an ensemble gives. {@link dev.zkrecipes.bench.scale.ScaleRun} plays
 * the turns: {@link dev.zkrecipes.bench.scale.Ensemble} has the servers, {@link dev.zkrecipes.bench.scale.Crowd} the
 * sessions, in JVMs of their own. {@link dev.zkrecipes.bench.scale.SaturationCurve} is the curve.
 */
@NullMarked
package dev.zkrecipes.bench.scale;

import org.jspecify.annotations.NullMarked;
