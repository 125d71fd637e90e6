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
 * A clock and what is going to happen, in order of time and, at the same time, in the order in which it was planned.
 * Nothing happens by itself: {@link #step} lets the next thing happen, on the calling thread. Not thread-safe.
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
     * Begins at time 1.
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
     * @param trace gets a line for all that happens: time, who, what; null if not needed
     */
    public Simulation(Choices choices, @Nullable List<String> trace) {
        this.choices = Objects.requireNonNull(choices, "choices");
        this.trace = trace;
    }

    /** Something that is going to happen. */
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

    /** {@return what decides whatever is open} */
    public Choices choices() {
        return choices;
    }

    /** {@return the clock in nanoseconds, which only {@link #step} and {@link #passUntil} move} */
    public long now() {
        return now;
    }

    /** {@return how many things have happened} */
    public long steps() {
        return steps;
    }

    /**
     * Plans something.
     *
     * @param delay how long from now
     * @param body what happens then
     */
    public void after(Duration delay, Runnable body) {
        plan(now + delay.toNanos(), body);
    }

    /**
     * Looks at every step, also at those that happen while another one waits for them.
     *
     * @param observer run after each; what it throws ends the run
     */
    public void afterEachStep(Runnable observer) {
        afterStep = observer;
    }

    Event plan(long at, Runnable body) {
        Event event = new Event(Math.max(at, now), planned++, body);
        events.add(event);
        return event;
    }

    /** How long a message, a write to disk or a thread takes this time: half a millisecond or more, seldom a second. */
    long lag() {
        int choice = choices.skewed(256);
        return choice < 64 ? MILLI / 2 + choice * MILLI / 4 : (long) choice * choice * MILLI / 64;
    }

    /**
     * Lets the next thing happen.
     *
     * @param limit the clock does not go beyond
     * @return false, and nothing has happened, if nothing is planned until then
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
     * Moves the clock when nothing is planned before.
     *
     * @param time the time to reach, not before now
     */
    public void passUntil(long time) {
        while (step(time)) {}
        now = Math.max(now, time);
    }

    /**
     * Tells the trace, if there is one.
     *
     * @param who what this is about
     * @param what made only if somebody wants to know
     */
    public void tell(String who, Supplier<String> what) {
        if (trace != null) {
            trace.add(String.format(Locale.ROOT, "%9.1f ms  %-10s %s", now / 1e6, who, what.get()));
        }
    }
}
