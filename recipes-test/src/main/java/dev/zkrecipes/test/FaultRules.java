// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The faults of one proxy that wait for their packet. Thread-safe. */
final class FaultRules {
    private final List<FaultRule> armed = new ArrayList<>();
    private boolean closed;

    synchronized void arm(FaultRule rule) {
        if (closed) {
            throw new IllegalStateException("the proxy is closed");
        }
        armed.add(rule);
    }

    /** Counts a request that is about to be forwarded and takes out the rules whose packet or reply's request it is. */
    List<FaultRule> onRequest(RequestType type) {
        return matching(type);
    }

    /** Counts a watch event that is about to be forwarded and takes out the rules whose packet it is. */
    List<FaultRule> onEvent() {
        return matching(null);
    }

    private synchronized List<FaultRule> matching(@Nullable RequestType passing) {
        List<FaultRule> matching = new ArrayList<>();
        armed.removeIf(rule -> rule.countDown(passing) && matching.add(rule));
        return matching;
    }

    /** Gives up what has not happened. A rule that is past counting, with its reply under way, stays. */
    void disarm(Signal signal) {
        boolean removed;
        synchronized (this) {
            removed = armed.removeIf(rule -> rule.signal() == signal);
        }
        if (removed) {
            signal.giveUp("it was taken back");
        }
    }

    void close() {
        List<FaultRule> left;
        synchronized (this) {
            closed = true;
            left = List.copyOf(armed);
            armed.clear();
        }
        left.forEach(rule -> rule.signal().giveUp("the proxy was closed"));
    }
}
