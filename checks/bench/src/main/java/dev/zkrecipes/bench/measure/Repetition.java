// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.measure;

import dev.zkrecipes.bench.server.Counts;
import dev.zkrecipes.bench.server.ServerProcess;
import java.util.concurrent.TimeUnit;

/**
 * Threads that acquire and release for some time.
 *
 * @param opener connects the contender
 * @param threads how many
 * @param acquiresPerCycle into how many acquires a cycle is to be divided: more than 1 where a single one is too short
 *     to be timed
 */
public record Repetition(Workload.Opener opener, int threads, int acquiresPerCycle) implements Experiment {
    /** A turn with fewer cycles continues, for at most ten times as long. */
    private static final int FEW = 20;

    @Override
    public Sample measure(ServerProcess server, Site site, Effort effort) throws InterruptedException {
        try (Workload workload = opener.open(site)) {
            Crew crew = new Crew(workload, threads);
            crew.start();
            try {
                TimeUnit.NANOSECONDS.sleep(effort.warmUp().toNanos());
                crew.check();
                return count(crew, server, effort.window().toNanos());
            } finally {
                crew.end();
            }
        }
    }

    private Sample count(Crew crew, ServerProcess server, long window) throws InterruptedException {
        Counts counts = server.counts();
        ClientMeter meter = ClientMeter.read();
        long start = System.nanoTime();
        crew.count();
        for (int windows = 0; windows < 10 && (windows == 0 || crew.counted() < FEW); windows++) {
            TimeUnit.NANOSECONDS.sleep(window);
            crew.check();
        }
        crew.stopCounting();
        double seconds = (System.nanoTime() - start) / 1e9;
        ClientMeter after = ClientMeter.read();
        Counts spent = server.counts().minus(counts);
        double acquires = (double) crew.counted() * acquiresPerCycle;
        if (acquires == 0) {
            throw new IllegalStateException("not one cycle in " + seconds + " s");
        }
        return Sample.empty()
                .with(Metric.RATE, acquires / seconds)
                .with(Metric.ACQUIRE, crew.medianAcquireNanos() / acquiresPerCycle / 1e3)
                .with(Metric.CPU, after.processorNanosSince(meter) / acquires / 1e3)
                .with(Metric.ALLOCATED, after.bytesSince(meter) / acquires)
                .with(Metric.REQUESTS, spent.requests() / acquires)
                .with(Metric.EVENTS, spent.events() / acquires);
    }
}
