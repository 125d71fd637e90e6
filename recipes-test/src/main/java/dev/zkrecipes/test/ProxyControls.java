// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What all streams of one proxy obey, and the faults that wait for their packet. After a change of what is paused or
 * delayed, wake the streams. Thread-safe.
 */
final class ProxyControls {
    /** Whether bytes of any protocol are carried, about which nothing is known. */
    final boolean isRaw;

    final RequestCounts.Counter requestsSeen = new RequestCounts.Counter();
    volatile boolean requestsPaused;
    volatile boolean repliesPaused;
    volatile long latencyNanos;

    @GuardedBy("this")
    private final List<Fault> armed = new ArrayList<>();

    @GuardedBy("this")
    private boolean closed;

    ProxyControls(boolean isRaw) {
        this.isRaw = isRaw;
    }

    boolean isPaused(boolean requests) {
        return requests ? requestsPaused : repliesPaused;
    }

    synchronized void arm(Fault fault) {
        if (closed) {
            throw new IllegalStateException("the proxy is closed");
        }
        armed.add(fault);
    }

    /**
     * Counts a request, or with null an event, that is about to be forwarded, and takes out the faults whose packet it
     * is, or whose reply's request.
     */
    synchronized List<Fault> matching(@Nullable RequestType passing) {
        List<Fault> matching = new ArrayList<>();
        armed.removeIf(fault -> fault.countDown(passing) && matching.add(fault));
        return matching;
    }

    /** Gives up what has not happened. A fault that is past counting, with its reply under way, stays. */
    void disarm(Fault fault) {
        boolean removed;
        synchronized (this) {
            removed = armed.remove(fault);
        }
        if (removed) {
            fault.giveUp("it was taken back");
        }
    }

    void close() {
        List<Fault> left;
        synchronized (this) {
            closed = true;
            left = List.copyOf(armed);
            armed.clear();
        }
        left.forEach(fault -> fault.giveUp("the proxy was closed"));
    }
}
