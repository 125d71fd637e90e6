// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.compare;

import dev.zkrecipes.bench.contender.Ours;
import dev.zkrecipes.bench.runner.BenchServer;
import dev.zkrecipes.bench.runner.BenchServer.Counts;
import dev.zkrecipes.bench.runner.ClientMeter;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Measures a queue of asynchronous requests: the memory of each while it waits, and the cost of a hand-over. In a long
 * queue, only the first requests get the lock, and the others are cancelled. A short queue is served to its end,
 * several times.
 *
 * @param waiters how many requests wait
 */
record WaitingQueue(BenchServer server, Ours client, int waiters) {
    private static final int LIMIT_MINUTES = 5;

    Map<Metric, Double> measure(String path, Effort effort) throws Exception {
        int handOvers = Math.min(waiters, effort.handOvers());
        int turns = (effort.handOvers() + handOvers - 1) / handOvers;
        Map<Metric, Double> sum = new EnumMap<>(Metric.class);
        for (int i = 0; i < turns; i++) {
            turn(path + "/" + i, handOvers).forEach((metric, value) -> sum.merge(metric, value / turns, Double::sum));
        }
        return sum;
    }

    private Map<Metric, Double> turn(String path, int handOvers) throws Exception {
        InterProcessLock lock = client.mutex(path);
        Lease held = lock.acquireAsync().join();
        long heap = liveHeap();
        List<CompletableFuture<Lease>> queue = new ArrayList<>();
        for (int i = 0; i < waiters; i++) {
            queue.add(lock.acquireAsync());
        }
        server.awaitQuiet(path, waiters + 1);
        heap = liveHeap() - heap;
        CountDownLatch served = new CountDownLatch(handOvers);
        for (CompletableFuture<Lease> request : queue.subList(0, handOvers)) {
            var unused = request.thenAccept(lease -> {
                served.countDown();
                pass(lease);
            });
        }
        Counts counts = server.counts();
        ClientMeter meter = ClientMeter.read();
        long start = System.nanoTime();
        pass(held);
        if (!served.await(LIMIT_MINUTES, TimeUnit.MINUTES)) {
            throw new IllegalStateException(served.getCount() + " of " + handOvers + " hand-overs are missing after "
                    + LIMIT_MINUTES + " minutes");
        }
        double nanos = System.nanoTime() - start;
        ClientMeter after = ClientMeter.read();
        Counts spent = server.counts().minus(counts);
        for (CompletableFuture<Lease> request : queue.subList(handOvers, waiters)) {
            var unused = request.thenAccept(WaitingQueue::pass);
            request.cancel(false);
        }
        double all = handOvers;
        return Map.of(
                Metric.HAND_OVER, nanos / all / 1e3,
                Metric.CPU, after.processorNanosSince(meter) / all / 1e3,
                Metric.ALLOCATED, after.bytesSince(meter) / all,
                Metric.REQUESTS, spent.requests() / all,
                Metric.EVENTS, spent.events() / all,
                Metric.HEAP, heap / (double) waiters);
    }

    private static void pass(Lease lease) {
        var unused = lease.closeAsync();
    }

    /** Returns the heap in use after two garbage collections: the first may free objects that refer to others. */
    private static long liveHeap() {
        System.gc();
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
