// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.compare;

import dev.zkrecipes.bench.contender.Cycle;
import dev.zkrecipes.bench.runner.BenchServer;
import dev.zkrecipes.bench.runner.BenchServer.Counts;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Two clients in turn: while one holds, the other queues; when it watches and nothing more is sent, the holder
 * releases. So the order of events is always the same, and the counts are exact. It counts one acquire that waits, the
 * hand-over and one release.
 */
final class CountedHandOvers {
    private static final int COUNTED = 2;

    private CountedHandOvers() {}

    static Map<Metric, Double> count(BenchServer server, String path, List<Cycle> cycles) throws Exception {
        // Each client has its thread, which owns what it acquires.
        List<ExecutorService> threads =
                List.of(Executors.newSingleThreadExecutor(), Executors.newSingleThreadExecutor());
        try {
            Future<AutoCloseable> held = threads.get(0).submit(cycles.get(0)::acquire);
            held.get();
            Counts before = server.counts();
            for (int i = 0; i <= COUNTED; i++) {
                if (i == 1) { // the first one, after an acquire that did not wait, is not counted
                    before = server.counts();
                }
                Future<AutoCloseable> next = threads.get((i + 1) % 2).submit(cycles.get((i + 1) % 2)::acquire);
                server.awaitQuiet(path, 2, 1);
                AutoCloseable holder = held.get();
                threads.get(i % 2).submit(() -> release(holder)).get();
                next.get();
                server.awaitQuiet(path, 1, 0);
                held = next;
            }
            Counts spent = server.counts().minus(before);
            return new EnumMap<>(Map.of(
                    Metric.REQUESTS, spent.requests() / (double) COUNTED,
                    Metric.EVENTS, spent.events() / (double) COUNTED));
        } finally {
            threads.forEach(ExecutorService::shutdownNow);
        }
    }

    private static boolean release(AutoCloseable holder) throws Exception {
        holder.close();
        return true;
    }
}
