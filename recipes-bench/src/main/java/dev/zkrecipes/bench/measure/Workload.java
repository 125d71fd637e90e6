// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.measure;

import java.util.List;
import java.util.function.IntFunction;

/** The open connections of one contender, and the work of each of its threads. */
public final class Workload implements AutoCloseable {
    private final IntFunction<Cycle> cycles;
    private final List<? extends AutoCloseable> connections;

    private Workload(IntFunction<Cycle> cycles, List<? extends AutoCloseable> connections) {
        this.cycles = cycles;
        this.connections = connections;
    }

    /**
     * Makes a workload.
     *
     * @param connections closed with it
     * @param cycles the work of a thread, by its number from 0
     */
    public static Workload of(List<? extends AutoCloseable> connections, IntFunction<Cycle> cycles) {
        return new Workload(cycles, connections);
    }

    /** The work of one thread. */
    public Cycle cycle(int thread) {
        return cycles.apply(thread);
    }

    @Override
    public void close() {
        Connections.close(connections);
    }

    /** Connects a contender. */
    public interface Opener {
        /**
         * Connects.
         *
         * @return connected, with nothing acquired
         */
        Workload open(Site site) throws InterruptedException;
    }
}
