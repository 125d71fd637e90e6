// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.runner;

import dev.zkrecipes.bench.contender.Cycle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * Threads that each repeat a cycle. Only cycles that end between the calls of {@link #count} and {@link #stopCounting}
 * are counted and timed.
 */
public final class Crew {
    /** Significant digits of the recorded times: as many as {@link Table#digits} shows of a number below 10,000. */
    private static final int DIGITS = 4;

    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final List<Thread> threads = new ArrayList<>();
    private final Histogram acquireNanos = new ConcurrentHistogram(TimeUnit.HOURS.toNanos(1), DIGITS);
    private final LongAdder cycles = new LongAdder();
    private final CountDownLatch over = new CountDownLatch(1);
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private volatile boolean counting;
    private volatile boolean interrupted;

    private Crew() {}

    /**
     * Starts a thread for each cycle, which repeats it by a schedule. The time to acquire is measured from the moment
     * at which the cycle was due, even if the cycle before it was late.
     *
     * @param every the time from one cycle of a thread to its next, in nanoseconds; the first cycles of the threads are
     *     spread evenly over this time. 0 means that each cycle begins as soon as the one before has ended.
     */
    public static Crew start(List<Cycle> cycles, long every) {
        Crew crew = new Crew();
        long begin = System.nanoTime();
        for (Cycle cycle : cycles) {
            int number = crew.threads.size();
            long due = begin + every / cycles.size() * number;
            Thread thread = new Thread(() -> crew.run(cycle, due, every), "member " + number);
            thread.setDaemon(true);
            crew.threads.add(thread);
        }
        crew.threads.forEach(Thread::start);
        return crew;
    }

    private void run(Cycle cycle, long first, long every) {
        try {
            repeat(cycle, first, every);
        } catch (Throwable e) { // reported by check()
            if (!interrupted) {
                failure.compareAndSet(null, e);
            }
        }
    }

    private void repeat(Cycle cycle, long first, long every) throws Exception {
        long due = first;
        while (every == 0 ? over.getCount() > 0 : !over.await(due - System.nanoTime(), TimeUnit.NANOSECONDS)) {
            long from = every == 0 ? System.nanoTime() : due;
            AutoCloseable held = cycle.acquire();
            long acquired = System.nanoTime();
            held.close();
            cycles.increment();
            if (counting) {
                acquireNanos.recordValue(acquired - from);
            }
            due += every;
        }
    }

    /** Begins to count and time the cycles. */
    public void count() {
        counting = true;
    }

    /** How many cycles have been counted up to now. */
    public long counted() {
        return acquireNanos.getTotalCount();
    }

    /** Ends the counting. The threads go on. */
    public void stopCounting() {
        counting = false;
    }

    /**
     * Lets each thread end its present cycle and then end. Interrupts the threads that have not ended in time.
     *
     * @param patience how long the threads may take before they are interrupted
     * @return whether all ended in time
     * @throws IllegalStateException if a thread does not end although it was interrupted
     */
    public boolean end(Duration patience) throws InterruptedException {
        counting = false;
        over.countDown();
        boolean inTime = join(patience);
        interrupted = true;
        threads.forEach(Thread::interrupt);
        if (!join(LIMIT)) {
            throw new IllegalStateException("a thread does not end though it was interrupted");
        }
        return inTime;
    }

    private boolean join(Duration limit) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        for (Thread thread : threads) {
            thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
        }
        return threads.stream().noneMatch(Thread::isAlive);
    }

    /** Throws {@link IllegalStateException} if a thread failed before the threads were interrupted. */
    public void check() {
        Throwable cause = failure.get();
        if (cause != null) {
            throw new IllegalStateException("a contender failed: " + cause, cause);
        }
    }

    /** Returns how long the counted acquires took. */
    public Histogram acquireNanos() {
        return acquireNanos.copy();
    }

    /** How many cycles there were in all, counted or not. */
    public long cycles() {
        return cycles.sum();
    }
}
