// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * A simulated ZooKeeper ensemble: deterministic, on one thread, with its own clock. It is behind the
 * engine's two ports, for schedules that a real ensemble cannot be forced into.
 *
 * <p>{@link dev.zkrecipes.test.sim.SimulatedZooKeeper} is the ensemble, {@link dev.zkrecipes.test.sim.SimulatedProcess}
 * a process with its handles, {@link dev.zkrecipes.test.sim.SimulatedScheduler} that process's thread and clock,
 * {@link dev.zkrecipes.test.sim.Simulation} what is going to happen and {@link dev.zkrecipes.test.sim.Choices} what
 * decides it. {@code dev.zkrecipes.test.explore} plays locks on it.
 */
@NullMarked
package dev.zkrecipes.test.sim;

import org.jspecify.annotations.NullMarked;
