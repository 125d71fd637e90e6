// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.cases;

import dev.zkrecipes.bench.measure.Cycle;
import dev.zkrecipes.bench.measure.Effort;
import dev.zkrecipes.bench.measure.Experiment;
import dev.zkrecipes.bench.measure.Metric;
import dev.zkrecipes.bench.measure.Sample;
import dev.zkrecipes.bench.measure.Site;
import dev.zkrecipes.bench.measure.Workload;
import dev.zkrecipes.bench.server.Counts;
import dev.zkrecipes.bench.server.ServerProcess;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Two clients in turn: while one holds, the other queues; when it watches and nothing more is sent, the holder
 * releases. So the order of events is always the same, and the counts are exact. It counts one acquire that waits, the
 * hand-over and one release.
 *
 * @param opener connects two clients
 */
record ContendedRequests(Workload.Opener opener) implements Experiment {
    private static final int HAND_OVERS = 2;

    @Override
    public Sample measure(ServerProcess server, Site site, Effort effort) throws InterruptedException {
        try (Workload workload = opener.open(site);
                Side one = new Side(workload.cycle(0));
                Side other = new Side(workload.cycle(1))) {
            List<Side> sides = List.of(one, other);
            join(one.acquire());
            handOver(
                    one, other, server, site.path()); // the first one after an acquire that did not wait is not counted
            Counts before = server.counts();
            for (int i = 1; i <= HAND_OVERS; i++) {
                handOver(sides.get(i % 2), sides.get((i + 1) % 2), server, site.path());
            }
            Counts spent = server.counts().minus(before);
            return Sample.empty()
                    .with(Metric.REQUESTS, spent.requests() / (double) HAND_OVERS)
                    .with(Metric.EVENTS, spent.events() / (double) HAND_OVERS);
        }
    }

    @Override
    public boolean isExact() {
        return true;
    }

    private static void handOver(Side holder, Side next, ServerProcess server, String path)
            throws InterruptedException {
        Future<?> acquire = next.acquire();
        server.awaitQuiet(path, 2, 1);
        join(holder.release());
        join(acquire);
        server.awaitQuiet(path, 1, 0);
    }

    private static void join(Future<?> step) throws InterruptedException {
        try {
            step.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }

    /** A client and its thread, which owns what it acquires. */
    private static final class Side implements AutoCloseable {
        private final Cycle cycle;
        private final ExecutorService thread = Executors.newSingleThreadExecutor();

        Side(Cycle cycle) {
            this.cycle = cycle;
        }

        Future<?> acquire() {
            return thread.submit(() -> {
                cycle.acquire();
                return null;
            });
        }

        Future<?> release() {
            return thread.submit(() -> {
                cycle.release();
                return null;
            });
        }

        @Override
        public void close() {
            thread.shutdownNow();
        }
    }
}
