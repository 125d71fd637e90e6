// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.List;

/**
 * The settings that all streams of one proxy obey, and the faults that wait for their packets. A stream does not notice
 * a changed pause or delay until it is woken. Thread-safe.
 */
final class ProxyControls {
    /** Whether the proxy carries bytes of any protocol, without understanding them. */
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
     * Counts a request that is about to be forwarded, and returns the faults that apply to it or to its reply. These
     * faults are no longer armed.
     */
    synchronized List<Fault> matching(RequestType passing) {
        List<Fault> matching = new ArrayList<>();
        armed.removeIf(fault -> fault.countDown(passing) && matching.add(fault));
        return matching;
    }

    /** Gives up a fault that has not happened, even if it has counted its request already and waits for the reply. */
    void disarm(Fault fault) {
        synchronized (this) {
            armed.remove(fault);
        }
        fault.giveUp("it was taken back");
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
