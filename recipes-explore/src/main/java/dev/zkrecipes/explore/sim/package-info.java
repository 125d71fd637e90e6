// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * A simulated ZooKeeper ensemble: deterministic, on one thread, with its own clock. It is behind the
 * engine's two ports, for schedules that a real ensemble cannot be forced into.
 *
 * <p>{@link dev.zkrecipes.explore.sim.SimulatedZooKeeper} is the ensemble, {@link
 * dev.zkrecipes.explore.sim.SimulatedProcess} a process with its handles, {@link
 * dev.zkrecipes.explore.sim.SimulatedScheduler} that process's thread and clock, {@link
 * dev.zkrecipes.explore.sim.Simulation} what is going to happen and {@link dev.zkrecipes.explore.sim.Choices} what
 * decides it. {@code dev.zkrecipes.explore} plays locks on it.
 */
@NullMarked
package dev.zkrecipes.explore.sim;

import org.jspecify.annotations.NullMarked;
