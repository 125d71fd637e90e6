// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Reports every second, or less often in a long demo, how often each worker has incremented, which holds and which
 * wait.
 */
final class MutexSamples {
    private static final int MOST_SAMPLES = 15;

    private final Timeline timeline;
    private final Roster roster;
    private final long interval;

    private final Map<Integer, Integer> sinceLast = new TreeMap<>();
    private long value;
    private long nextAt;

    MutexSamples(Timeline timeline, Roster roster, Duration time) {
        this.timeline = timeline;
        this.roster = roster;
        long seconds = Math.max(1, (time.toSeconds() + MOST_SAMPLES - 1) / MOST_SAMPLES);
        this.interval = Duration.ofSeconds(seconds).toNanos();
    }

    void begin(long now) {
        restart(now);
    }

    /** Begins a new interval. */
    void restart(long now) {
        nextAt = now + interval;
    }

    void on(Increment increment) {
        sinceLast.merge(increment.worker(), 1, Integer::sum);
        value = Math.max(value, increment.value());
    }

    void at(long now) {
        if (!isDue(now)) {
            return;
        }
        String holder = roster.holder()
                .map(member -> member.name() + " holds " + member.token())
                .orElse(roster.isAnyWaiting() ? "on its way" : "free");
        timeline.tell(now, "at " + value, Tone.PLAIN, increments() + " " + holder + ", " + roster.waiting());
        sinceLast.clear();
    }

    /** How often each worker has incremented; the sum if there are too many for a line. */
    private String increments() {
        if (roster.members().size() > Roster.FEW) {
            long sum = sinceLast.values().stream().mapToLong(count -> count).sum();
            return "+" + sum + " by " + sinceLast.size() + " workers ";
        }
        return roster.members().stream()
                .filter(member -> member.state() != Roster.State.KILLED)
                .map(member -> String.format(
                        Locale.ROOT, "%-6s", member.name() + "+" + sinceLast.getOrDefault(member.number(), 0)))
                .collect(Collectors.joining(" "));
    }

    /** The same while a dead worker still holds. */
    void atWithout(int dead, long since, long now) {
        if (isDue(now)) {
            timeline.tell(
                    now,
                    "at " + value,
                    Tone.QUIET,
                    Timeline.name(dead) + " dead for " + Timeline.show(now - since) + ", its session still holds, "
                            + roster.waiting());
        }
    }

    private boolean isDue(long now) {
        if (now - nextAt < 0) {
            return false;
        }
        nextAt += interval;
        return true;
    }
}
