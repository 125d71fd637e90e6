// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.node;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The deletions on one lock path. The right to delete is the path's, so those that ZooKeeper refused take turns, ever more
 * seldom; when one of them is gone, the next follows at once.
 */
final class PathDeletions {
    /** Between two turns, in request time-outs. */
    private static final int LONGEST_REST = 16;

    private final Set<Deletion> all = new LinkedHashSet<>(2);
    private final Deque<Deletion> refused = new ArrayDeque<>(1); // it is the first one's turn
    private int rest = 1;

    Set<Deletion> all() {
        return all;
    }

    Deque<Deletion> refused() {
        return refused;
    }

    /** Was refused, for the first time or when it had its turn. */
    void onRefused(Deletion deletion, Duration requestTimeout) {
        boolean hadTurn = refused.isEmpty() || refused.remove(deletion);
        refused.add(deletion);
        if (hadTurn) {
            refused.element().beginAfter(requestTimeout.multipliedBy(rest));
            rest = Math.min(2 * rest, LONGEST_REST);
        }
    }

    void onFinished(Deletion deletion) {
        boolean hadTurn = refused.peek() == deletion;
        all.remove(deletion);
        refused.remove(deletion);
        if (hadTurn && !refused.isEmpty()) {
            rest = 1;
            refused.element().begin();
        }
    }
}
