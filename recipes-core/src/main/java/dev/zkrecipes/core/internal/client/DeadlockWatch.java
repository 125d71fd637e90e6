// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.client;

import dev.zkrecipes.core.Deadlock;
import dev.zkrecipes.core.internal.acquire.AcquireLoop;
import dev.zkrecipes.core.internal.acquire.Requests;
import dev.zkrecipes.core.internal.ask.DeadlockLook;
import dev.zkrecipes.core.internal.hold.LockLog;
import dev.zkrecipes.core.internal.hold.ObservedRequest;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether requests of threads that hold other locks, and requests for several locks, wait for themselves: when
 * they have waited for long, and about once a minute from then on. Requests may be added from any thread. While there
 * are any, the engine thread checks, once a second, the one that has been due for the longest time. So a client sends a
 * hundred reads a second at most, even if a thousand of its threads wait for one lock.
 */
final class DeadlockWatch {
    private static final Duration UNLESS_SET = Duration.ofSeconds(10);
    private static final long PAUSE = Duration.ofMinutes(1).toNanos(); // minimum between two checks of a request

    private final Requests requests;
    private final long after; // how long a request waits before the first check, in nanoseconds
    private final Map<AcquireLoop, Entry> nested = new ConcurrentHashMap<>(); // some of which may have ended
    private final EverySecond looks;

    private record Entry(@Nullable ObservedRequest observed, long due) {}

    /** {@code slowAfter} is null if the client does not warn about long waits. */
    DeadlockWatch(Requests requests, @Nullable Duration slowAfter) {
        this.requests = requests;
        this.after = TimeUnit.NANOSECONDS.convert(slowAfter == null ? UNLESS_SET : slowAfter); // at most 292 years
        this.looks = new EverySecond(requests.scheduler(), this::look);
    }

    /** Watches a request from its beginning. {@code observed} is null if nobody observes it. */
    void add(AcquireLoop request, @Nullable ObservedRequest observed) {
        nested.put(request, new Entry(observed, requests.scheduler().nanoTime() + after));
        looks.begin();
    }

    private boolean look() {
        long now = requests.scheduler().nanoTime();
        nested.keySet().removeIf(AcquireLoop::isOver);
        nested.entrySet().stream()
                .min(Comparator.comparingLong(each -> each.getValue().due() - now))
                .filter(next -> next.getValue().due() - now <= 0)
                .ifPresent(next -> next.setValue(look(next.getKey(), next.getValue(), now)));
        return !nested.isEmpty();
    }

    /**
     * Checks a request that is due. If the request is in the middle of a step, it stays due for the next second. The
     * next checks are spread, so that many clients that began to wait together do not check together.
     */
    private Entry look(AcquireLoop request, Entry entry, long now) {
        boolean begins = DeadlockLook.begin(requests, request, deadlock -> report(request, entry.observed(), deadlock));
        long pause = begins ? PAUSE + requests.scheduler().random().nextLong(PAUSE / 4) : 0;
        return new Entry(entry.observed(), now + pause);
    }

    private static void report(AcquireLoop request, @Nullable ObservedRequest observed, Deadlock deadlock) {
        LockLog.deadlock(request.lockPath(), deadlock);
        if (observed != null) {
            observed.tellDeadlock(deadlock);
        }
    }
}
