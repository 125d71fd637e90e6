// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.scale;

import dev.zkrecipes.bench.contender.Work;
import dev.zkrecipes.bench.runner.Crew;
import dev.zkrecipes.bench.runner.Machine;
import dev.zkrecipes.bench.scale.Ensemble.Usage;
import dev.zkrecipes.bench.scale.Reading.Series;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;

/** Measures series, each with servers and clients of its own. Not thread-safe. */
final class ScaleRun {
    /** The rates that schedules ask for once the greatest rate is known, in percent of it. */
    static final List<Integer> PERCENTS = List.of(50, 90);

    private static final Duration LIMIT = Duration.ofSeconds(30);

    /** How many sessions take the locks of the warm-up, and those of a series whose paths are always new. */
    private static final int TO_START = 100;

    /** How long a turn runs before its locks are counted, as a fraction of the time for which they are counted. */
    private static final double LEAD_IN = 0.2;

    private final List<Integer> sessions;
    private final double seconds;
    private final int warmUp;
    private final Consumer<String> progress;
    private final List<Reading> readings = new ArrayList<>();

    /**
     * Creates a run.
     *
     * @param sessions how many take locks, in ascending order
     * @param seconds for how many seconds the locks of a turn are counted
     * @param warmUp how many locks come before the first turn of a series: after 70,000, three servers granted 2,200
     *     locks a second, after 110,000 they granted 4,000, because the JIT compilers of the clients had seen enough
     *     only then
     * @param progress receives a line about each turn
     */
    ScaleRun(List<Integer> sessions, double seconds, int warmUp, Consumer<String> progress) {
        this.sessions = sessions;
        this.seconds = seconds;
        this.warmUp = warmUp;
        this.progress = progress;
    }

    List<Reading> readings() {
        return List.copyOf(readings);
    }

    /**
     * Measures a series: first the greatest rate of each number of sessions, and then the turns that have a schedule.
     *
     * @throws IllegalStateException if a turn failed; the message names it
     */
    void play(Series series) throws InterruptedException {
        String turn = "start";
        int most = sessions.get(sessions.size() - 1);
        int first = Math.min(TO_START, most);
        List<Integer> counts = series.work() == Work.NEW_PATH ? List.of(first) : sessions;
        try (Ensemble ensemble = Ensemble.start(series.servers(), series.store());
                Crowd crowd = new Crowd(series.contender(), series.work(), ensemble.connectString())) {
            crowd.resize(first);
            warmUp(crowd, first);
            List<Reading> turns = new ArrayList<>();
            for (int count : counts) {
                turn = "sessions: " + count;
                crowd.resize(Math.max(count, first));
                turns.add(turn(series, ensemble, crowd, count, 100, 0));
            }
            Reading full = Collections.max(turns, Comparator.comparingDouble(Reading::rate));
            turn = "closing";
            crowd.resize(full.sessions());
            for (int percent : PERCENTS) {
                turn = "sessions: " + full.sessions() + ", " + percent + " %";
                var unused = turn(series, ensemble, crowd, full.sessions(), percent, full.rate() * percent / 100);
            }
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(series + ", " + turn + ": " + e.getMessage(), e);
        }
    }

    private void warmUp(Crowd crowd, int count) throws Exception {
        long locks = 0;
        while (locks < warmUp) {
            Crew crew = crowd.start(count, 0);
            sleep(seconds);
            locks += end(crew).cycles();
        }
    }

    /**
     * Ends a crew when its last locks have been released, and returns it. Throws {@link IllegalStateException} if a
     * thread of the crew failed or does not get its lock.
     */
    private static Crew end(Crew crew) throws InterruptedException {
        boolean inTime = crew.end(LIMIT);
        crew.check();
        if (!inTime) {
            throw new IllegalStateException("a session has waited for its lock for " + LIMIT);
        }
        return crew;
    }

    private Reading turn(Series series, Ensemble ensemble, Crowd crowd, int count, int percent, double offered)
            throws Exception {
        Usage before = ensemble.usage();
        Duration clientsBefore = Machine.processorTime();
        Crew crew = crowd.start(count, offered);
        sleep(LEAD_IN * seconds);
        crew.count();
        long begun = System.nanoTime();
        sleep(seconds);
        crew.stopCounting();
        double elapsed = (System.nanoTime() - begun) / 1e9;
        long locks = end(crew).cycles();
        Usage spent = ensemble.usage().since(before); // by all locks of the turn, and by nothing else
        Duration clients = Machine.processorTime().minus(clientsBefore);
        Histogram nanos = crew.acquireNanos();
        if (nanos.getTotalCount() == 0) {
            throw new IllegalStateException("not one lock in " + elapsed + " s");
        }
        Reading reading = new Reading(
                series,
                count,
                percent,
                offered,
                nanos.getTotalCount() / elapsed,
                nanos.getValueAtPercentile(50) / 1e6,
                nanos.getValueAtPercentile(99) / 1e6,
                spent.requests() / (double) locks,
                spent.bytes() / (double) locks,
                spent.leaderTime().toNanos() / 1e3 / locks,
                clients.toNanos() / 1e3 / locks,
                Machine.load());
        readings.add(reading);
        progress.accept(String.format(
                "%s, sessions: %d%s: %.0f locks/s, %.1f ms (99 %%: %.1f ms); load %.1f",
                series,
                count,
                offered == 0 ? "" : ", " + percent + " %",
                reading.rate(),
                reading.medianMillis(),
                reading.slowMillis(),
                reading.load()));
        return reading;
    }

    private static void sleep(double seconds) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep((long) (seconds * 1e9));
    }
}
