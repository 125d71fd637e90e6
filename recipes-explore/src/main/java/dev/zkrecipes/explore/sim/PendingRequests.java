// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** The requests of a session that have no answer yet: those that were sent, and those that wait for a connection. */
final class PendingRequests {
    private final Deque<SentRequest<?>> unsent = new ArrayDeque<>();
    private final Deque<SentRequest<?>> unanswered = new ArrayDeque<>();

    /** Keeps a request until there is a connection. */
    void keep(SentRequest<?> request) {
        unsent.add(request);
    }

    /** Takes out what waits for a connection. */
    List<SentRequest<?>> unsent() {
        List<SentRequest<?>> taken = List.copyOf(unsent);
        unsent.clear();
        return taken;
    }

    void onSent(SentRequest<?> request) {
        unanswered.add(request);
    }

    void onAnswered(SentRequest<?> request) {
        unanswered.remove(request);
    }

    /** Takes out everything, what was sent first. */
    List<SentRequest<?>> all() {
        List<SentRequest<?>> taken = new ArrayList<>(unanswered);
        unanswered.clear();
        taken.addAll(unsent());
        return taken;
    }
}
