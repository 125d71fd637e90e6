// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

/**
 * A simulated ZooKeeper ensemble: deterministic, on one thread, and with its own clock. It implements the two
 * interfaces by which the engine uses the outside world, {@code ZooKeeperOperations} and {@code EngineScheduler}. So it
 * can play schedules that a real ensemble cannot be forced into.
 *
 * <p>{@link dev.zkrecipes.explore.sim.SimulatedZooKeeper} is the ensemble.
 * {@link dev.zkrecipes.explore.sim.SimulatedProcess} is a process with its handles, and
 * {@link dev.zkrecipes.explore.sim.SimulatedScheduler} is the thread and the clock of that process.
 * {@link dev.zkrecipes.explore.sim.Simulation} contains the clock and the planned events, and
 * {@link dev.zkrecipes.explore.sim.Choices} decides what is left open. {@code dev.zkrecipes.explore} plays locks on
 * this ensemble.
 */
@NullMarked
package dev.zkrecipes.explore.sim;

import org.jspecify.annotations.NullMarked;
