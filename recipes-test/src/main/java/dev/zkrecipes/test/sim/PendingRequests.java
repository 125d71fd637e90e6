// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** The requests of a session that have no answer yet: those that were sent, and those that wait for a connection. */
final class PendingRequests {
    private final Deque<Request<?>> unsent = new ArrayDeque<>();
    private final Deque<Request<?>> unanswered = new ArrayDeque<>();

    /** Keeps a request until there is a connection. */
    void keep(Request<?> request) {
        unsent.add(request);
    }

    /** Takes out what waits for a connection. */
    List<Request<?>> unsent() {
        List<Request<?>> taken = List.copyOf(unsent);
        unsent.clear();
        return taken;
    }

    void onSent(Request<?> request) {
        unanswered.add(request);
    }

    void onAnswered(Request<?> request) {
        unanswered.remove(request);
    }

    /** Takes out everything, what was sent first. */
    List<Request<?>> all() {
        List<Request<?>> taken = new ArrayList<>(unanswered);
        unanswered.clear();
        taken.addAll(unsent());
        return taken;
    }
}
