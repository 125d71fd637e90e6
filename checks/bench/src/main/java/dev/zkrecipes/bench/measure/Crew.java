// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.measure;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The threads of one turn. Each repeats its cycle all the time. Only cycles that end during the count are counted. */
final class Crew {
    private static final long LIMIT_MILLIS = TimeUnit.SECONDS.toMillis(20);

    private final List<Member> members = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private volatile Phase phase = Phase.WARMING_UP;

    Crew(Workload workload, int size) {
        for (int i = 0; i < size; i++) {
            Member member = new Member(workload.cycle(i));
            members.add(member);
            Thread thread = new Thread(member, "contender-" + i);
            thread.setDaemon(true);
            threads.add(thread);
        }
    }

    void start() {
        threads.forEach(Thread::start);
    }

    void count() {
        phase = Phase.COUNTING;
    }

    /** The number of cycles up to now. */
    long counted() {
        return members.stream().mapToLong(member -> member.counted).sum();
    }

    /** Ends the counting; cycles in progress continue but do not count. */
    void stopCounting() {
        phase = Phase.OVER;
    }

    double medianAcquireNanos() {
        return Latencies.median(
                members.stream().map(member -> member.acquireNanos).toList());
    }

    /** Fails if a member failed before the end. */
    void check() {
        for (Member member : members) {
            Throwable failure = member.failure;
            if (failure != null) {
                throw new IllegalStateException("a contender failed: " + failure, failure);
            }
        }
    }

    /** Ends the threads. Interrupts those that still wait, which would take long with a slow contender. */
    void end() throws InterruptedException {
        phase = Phase.OVER;
        long brief = 100;
        for (Thread thread : threads) {
            thread.join(brief);
            brief = 1;
        }
        threads.forEach(Thread::interrupt);
        for (Thread thread : threads) {
            thread.join(LIMIT_MILLIS);
            if (thread.isAlive()) {
                throw new IllegalStateException(thread.getName() + " does not end though it was interrupted");
            }
        }
    }

    private enum Phase {
        WARMING_UP,
        COUNTING,
        OVER
    }

    private final class Member implements Runnable {
        private static final int LATENCIES = 1 << 13;

        private final Cycle cycle;
        private final Latencies acquireNanos = new Latencies(LATENCIES);
        private volatile long counted;
        private volatile @Nullable Throwable failure;

        Member(Cycle cycle) {
            this.cycle = cycle;
        }

        @Override
        public void run() {
            try {
                repeat();
            } catch (InterruptedException | RuntimeException | Error e) {
                if (phase != Phase.OVER) {
                    failure = e;
                }
            }
        }

        private void repeat() throws InterruptedException {
            long number = 0;
            while (phase != Phase.OVER) {
                long start = System.nanoTime();
                cycle.acquire();
                long acquired = System.nanoTime();
                cycle.release();
                if (phase == Phase.COUNTING) {
                    acquireNanos.add(acquired - start);
                    counted = ++number;
                }
            }
        }
    }
}
