// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.measure;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/** The open connections of one contender, and the work of each of its threads. */
public final class Workload implements AutoCloseable {
    private final IntFunction<Cycle> cycles;
    private final List<? extends AutoCloseable> connections;

    /**
     * A workload.
     *
     * @param cycles the work of a thread, by its number from 0
     * @param connections closed with it
     */
    Workload(IntFunction<Cycle> cycles, List<? extends AutoCloseable> connections) {
        this.cycles = cycles;
        this.connections = connections;
    }

    /** All threads share one connection. */
    public static <C extends AutoCloseable> Opener shared(Connector<C> connector, Work<C, IntFunction<Cycle>> work) {
        return site -> {
            C connection = connector.connect(site);
            return new Workload(work.begin(connection, site), List.of(connection));
        };
    }

    /** Each thread has a connection of its own, as if it were another process. */
    public static <C extends AutoCloseable> Opener each(int count, Connector<C> connector, Work<C, Cycle> work) {
        return site -> {
            List<C> connections = new ArrayList<>();
            List<Cycle> cycles = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                C connection = connector.connect(site);
                connections.add(connection);
                cycles.add(work.begin(connection, site));
            }
            return new Workload(cycles::get, connections);
        };
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

    /** Connects one client. */
    public interface Connector<C> {
        /** A connected client. */
        C connect(Site site) throws InterruptedException;
    }

    /** Prepares what is done with a connection. */
    public interface Work<C, R> {
        /** A cycle, or one for each thread by its number from 0. */
        R begin(C connection, Site site) throws InterruptedException;
    }
}
