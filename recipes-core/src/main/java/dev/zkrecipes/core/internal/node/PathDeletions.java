// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.node;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The deletions on one lock path. The right to delete is the path's, so those that ZooKeeper refused take turns at
 * growing intervals. When one of them is gone, the next follows at once.
 */
final class PathDeletions {
    /** Between two turns, in request time-outs. */
    private static final int LONGEST_REST = 16;

    private final Set<Deletion> all = new LinkedHashSet<>(2);
    private @Nullable Deque<Deletion> refused; // none before one was; it is the first one's turn
    private int rest = 1;

    Set<Deletion> all() {
        return all;
    }

    Collection<Deletion> refused() {
        return refused == null ? List.of() : refused;
    }

    /** A deletion was refused, for the first time or in its turn. */
    void onRefused(Deletion deletion, Duration requestTimeout) {
        Deque<Deletion> turns = refused == null ? new ArrayDeque<>() : refused;
        refused = turns;
        boolean hadTurn = turns.isEmpty() || turns.remove(deletion);
        turns.add(deletion);
        if (hadTurn) {
            turns.element().beginAfter(requestTimeout.multipliedBy(rest));
            rest = Math.min(2 * rest, LONGEST_REST);
        }
    }

    void onFinished(Deletion deletion) {
        all.remove(deletion);
        Deque<Deletion> turns = refused;
        if (turns == null) {
            return;
        }
        boolean hadTurn = turns.peek() == deletion;
        turns.remove(deletion);
        if (hadTurn && !turns.isEmpty()) {
            rest = 1;
            turns.element().begin();
        }
    }
}
