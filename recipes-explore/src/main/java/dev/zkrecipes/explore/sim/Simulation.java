// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A clock and the planned events, in order of time; events of the same time happen in the order in which they were
 * planned. Nothing happens by itself: {@link #step} runs the next event, on the calling thread. Not thread-safe.
 */
public final class Simulation {
    private static final long MILLI = 1_000_000;

    private final Choices choices;
    private final @Nullable List<String> trace;
    private final PriorityQueue<Event> events = new PriorityQueue<>(64);
    private Runnable afterStep = () -> {};
    private long now = 1;
    private long planned;
    private long steps;

    /**
     * Begins at time 1, without a trace.
     *
     * @param choices decides whatever is open
     */
    public Simulation(Choices choices) {
        this(choices, null);
    }

    /**
     * Begins at time 1.
     *
     * @param choices decides whatever is open
     * @param trace gets a line for everything that happens, with the time, the subject and the event; null if it is
     *     not needed
     */
    public Simulation(Choices choices, @Nullable List<String> trace) {
        this.choices = Objects.requireNonNull(choices, "choices");
        this.trace = trace;
    }

    /** A planned event, which may be cancelled. */
    static final class Event implements Comparable<Event> {
        private final long at;
        private final long number;
        private @Nullable Runnable body;

        private Event(long at, long number, Runnable body) {
            this.at = at;
            this.number = number;
            this.body = body;
        }

        void cancel() {
            body = null;
        }

        boolean isPending() {
            return body != null;
        }

        @Override
        public int compareTo(Event other) {
            int byTime = Long.compare(at, other.at);
            return byTime != 0 ? byTime : Long.compare(number, other.number);
        }
    }

    /** {@return the choices that decide whatever is open} */
    public Choices choices() {
        return choices;
    }

    /** {@return the clock in nanoseconds, which only {@link #step} and {@link #passUntil} advance} */
    public long now() {
        return now;
    }

    /** {@return the number of events that have happened} */
    public long steps() {
        return steps;
    }

    /**
     * Plans an event.
     *
     * @param delay the time from now
     * @param body what happens then
     */
    public void after(Duration delay, Runnable body) {
        plan(now + delay.toNanos(), body);
    }

    /**
     * Sets an observer of every step, including the steps that happen while an outer step waits.
     *
     * @param observer runs after each step; what it throws ends the run
     */
    public void afterEachStep(Runnable observer) {
        afterStep = observer;
    }

    Event plan(long at, Runnable body) {
        Event event = new Event(Math.max(at, now), planned++, body);
        events.add(event);
        return event;
    }

    /**
     * Returns how long a message, a write to disk or a thread takes this time: half a millisecond or more, in rare
     * cases up to a second.
     */
    long lag() {
        int choice = choices.skewed(256);
        return choice < 64 ? MILLI / 2 + choice * MILLI / 4 : (long) choice * choice * MILLI / 64;
    }

    /**
     * Runs the next event.
     *
     * @param limit the time beyond which the clock does not advance
     * @return false, and nothing has happened, if nothing is planned up to that time
     */
    public boolean step(long limit) {
        Event next = events.peek();
        while (next != null && !next.isPending()) {
            events.remove();
            next = events.peek();
        }
        if (next == null || next.at > limit) {
            return false;
        }
        events.remove();
        now = next.at;
        steps++;
        Runnable body = next.body;
        next.cancel();
        if (body != null) {
            body.run();
            afterStep.run();
        }
        return true;
    }

    /**
     * Runs all events that are planned up to a time, and then advances the clock to it.
     *
     * @param time the time to reach, not before now
     */
    public void passUntil(long time) {
        while (step(time)) {}
        now = Math.max(now, time);
    }

    /**
     * Adds a line to the trace, if there is one.
     *
     * @param who the subject of the line
     * @param what the event; called only if there is a trace
     */
    public void tell(String who, Supplier<String> what) {
        if (trace != null) {
            trace.add(String.format(Locale.ROOT, "%9.1f ms  %-10s %s", now / 1e6, who, what.get()));
        }
    }
}
