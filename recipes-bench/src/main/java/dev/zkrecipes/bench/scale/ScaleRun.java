// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.scale;

import dev.zkrecipes.bench.scale.Ensemble.Usage;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Plays series, each on an ensemble and with clients of its own. Not thread-safe. */
final class ScaleRun {
    /** Of the greatest rate, by a schedule. */
    static final List<Integer> PERCENTS = List.of(50, 90);

    private static final int MOST_JVMS = 4;

    /** As many sessions let the compilers of all JVMs see the work, before anything is measured. */
    private static final int TO_START = 16;

    /** How many times as long as a turn they do that. */
    private static final double START = 3;

    /** The part of a turn that comes before the count. */
    private static final double WARM_UP = 0.2;

    private final List<Integer> sessions;
    private final double seconds;
    private final Consumer<String> progress;
    private final List<Reading> readings = new ArrayList<>();
    private final List<String> failures = new ArrayList<>();

    /**
     * A run.
     *
     * @param sessions how many take locks, in ascending order
     * @param seconds how long a turn counts
     * @param progress told of each turn
     */
    ScaleRun(List<Integer> sessions, double seconds, Consumer<String> progress) {
        this.sessions = sessions;
        this.seconds = seconds;
        this.progress = progress;
    }

    List<Reading> readings() {
        return List.copyOf(readings);
    }

    /** The turns that failed. */
    List<String> failures() {
        return List.copyOf(failures);
    }

    /** What fails ends the series, and is among the failures. */
    void play(Series series) throws InterruptedException {
        String turn = "start";
        int most = sessions.get(sessions.size() - 1);
        try (Ensemble ensemble = Ensemble.start(series.servers(), series.store());
                Crowd crowd = new Crowd(series.contender(), ensemble.connectString(), Math.min(most, MOST_JVMS))) {
            int first = Math.min(TO_START, most);
            crowd.grow(first);
            crowd.start(first, 0);
            sleep(START * seconds);
            crowd.stop();
            double greatest = 0;
            for (int count : sessions) {
                turn = "sessions: " + count;
                crowd.grow(Math.max(count, first));
                Reading reading = turn(series, ensemble, crowd, count, 100, 0);
                greatest = Math.max(greatest, reading.rate());
            }
            for (int percent : PERCENTS) {
                turn = "sessions: " + most + ", " + percent + " %";
                var unused = turn(series, ensemble, crowd, most, percent, greatest * percent / 100);
            }
        } catch (IllegalStateException | UncheckedIOException e) {
            failures.add(
                    series + ", " + turn + ": " + e.getMessage() + " (what follows in this series was not played)");
            progress.accept("failed: " + failures.get(failures.size() - 1));
        }
    }

    private Reading turn(Series series, Ensemble ensemble, Crowd crowd, int count, int percent, double offered)
            throws InterruptedException {
        crowd.start(count, offered);
        sleep(WARM_UP * seconds);
        crowd.count();
        long begun = System.nanoTime();
        Usage before = ensemble.usage();
        Duration clientsBefore = crowd.processorTime();
        sleep(seconds);
        Usage spent = ensemble.usage().since(before);
        Duration clients = crowd.processorTime().minus(clientsBefore);
        double elapsed = (System.nanoTime() - begun) / 1e9;
        long[] micros = crowd.stop();
        if (micros.length == 0) {
            throw new IllegalStateException("not one lock in " + elapsed + " s");
        }
        double rate = micros.length / elapsed;
        double locks = rate * spent.nanos() / 1e9; // those of the time between the two readings
        Reading reading = new Reading(
                series,
                count,
                percent,
                offered,
                rate,
                quantile(micros, 0.5) / 1e3,
                quantile(micros, 0.99) / 1e3,
                spent.requests() / locks,
                spent.bytes() / locks,
                spent.leader().toNanos() / 1e3 / locks,
                clients.toNanos() / 1e3 / locks);
        readings.add(reading);
        progress.accept(String.format(
                "%s, sessions: %d%s: %.0f locks/s, %.1f ms (99 %%: %.1f ms)",
                series,
                count,
                offered == 0 ? "" : ", " + percent + " %",
                rate,
                reading.medianMillis(),
                reading.slowMillis()));
        return reading;
    }

    private static long quantile(long[] sorted, double share) {
        return sorted[(int) Math.ceil(share * sorted.length) - 1];
    }

    private static void sleep(double seconds) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep((long) (seconds * 1e9));
    }
}
