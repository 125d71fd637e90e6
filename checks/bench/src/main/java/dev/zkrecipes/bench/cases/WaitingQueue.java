// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.cases;

import dev.zkrecipes.bench.contender.Ours;
import dev.zkrecipes.bench.measure.ClientMeter;
import dev.zkrecipes.bench.measure.Effort;
import dev.zkrecipes.bench.measure.Experiment;
import dev.zkrecipes.bench.measure.Metric;
import dev.zkrecipes.bench.measure.Sample;
import dev.zkrecipes.bench.measure.Site;
import dev.zkrecipes.bench.server.Counts;
import dev.zkrecipes.bench.server.ServerProcess;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A queue of asynchronous requests: the cost of each while it waits, and of a hand-over. The first of a long queue are
 * handed over; a short queue is served to its end, several times.
 *
 * @param waiters how many wait
 */
record WaitingQueue(int waiters) implements Experiment {
    private static final int LIMIT_MINUTES = 5;

    @Override
    public Sample measure(ServerProcess server, Site site, Effort effort) throws InterruptedException {
        int handOvers = Math.min(waiters, effort.handOvers());
        int turns = (effort.handOvers() + handOvers - 1) / handOvers;
        Turn sum = new Turn(0, 0, 0, 0, 0, 0);
        try (ZooKeeperClient client = Ours.connect(site)) {
            for (int i = 0; i < turns; i++) {
                String path = site.path() + "/" + i;
                sum = sum.plus(turn(new InterProcessMutex(client, path), path, server, handOvers));
            }
        }
        double all = (double) handOvers * turns;
        return Sample.empty()
                .with(Metric.HAND_OVER, sum.nanos / all / 1e3)
                .with(Metric.CPU, sum.processorNanos / all / 1e3)
                .with(Metric.ALLOCATED, sum.bytes / all)
                .with(Metric.REQUESTS, sum.requests / all)
                .with(Metric.EVENTS, sum.events / all)
                .with(Metric.HEAP, sum.heap / (double) waiters / turns);
    }

    private Turn turn(InterProcessLock lock, String path, ServerProcess server, int handOvers)
            throws InterruptedException {
        Lease held = lock.acquireAsync().join();
        long heap = liveHeap();
        List<CompletableFuture<Lease>> queue = new ArrayList<>();
        for (int i = 0; i < waiters; i++) {
            queue.add(lock.acquireAsync());
        }
        server.awaitQuiet(path, waiters + 1, 0);
        heap = liveHeap() - heap;
        CountDownLatch served = new CountDownLatch(handOvers);
        for (CompletableFuture<Lease> request : queue.subList(0, handOvers)) {
            var unused = request.thenAccept(lease -> pass(lease, served));
        }
        Counts counts = server.counts();
        ClientMeter meter = ClientMeter.read();
        long start = System.nanoTime();
        pass(held);
        if (!served.await(LIMIT_MINUTES, TimeUnit.MINUTES)) {
            throw new IllegalStateException(served.getCount() + " of " + handOvers + " hand-overs are missing after "
                    + LIMIT_MINUTES + " minutes");
        }
        long nanos = System.nanoTime() - start;
        ClientMeter after = ClientMeter.read();
        Counts spent = server.counts().minus(counts);
        for (CompletableFuture<Lease> request : queue.subList(handOvers, waiters)) {
            var unused = request.thenAccept(WaitingQueue::pass);
            request.cancel(false);
        }
        return new Turn(
                nanos,
                after.processorNanosSince(meter),
                after.bytesSince(meter),
                heap,
                spent.requests(),
                spent.events());
    }

    private static void pass(Lease lease, CountDownLatch served) {
        served.countDown();
        pass(lease);
    }

    private static void pass(Lease lease) {
        var unused = lease.closeAsync();
    }

    /** The heap in use after two collections: the first may free objects that refer to others. */
    private static long liveHeap() {
        System.gc();
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private record Turn(long nanos, long processorNanos, long bytes, long heap, long requests, long events) {
        Turn plus(Turn other) {
            return new Turn(
                    nanos + other.nanos,
                    processorNanos + other.processorNanos,
                    bytes + other.bytes,
                    heap + other.heap,
                    requests + other.requests,
                    events + other.events);
        }
    }
}
