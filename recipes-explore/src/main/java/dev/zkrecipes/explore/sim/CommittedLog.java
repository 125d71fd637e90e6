// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import dev.zkrecipes.explore.sim.Leader.Proposal;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * The transactions that a quorum has, in order. Each server applies them at its own pace, so it stands after one of
 * them.
 */
final class CommittedLog {
    private final List<Proposal> log = new ArrayList<>();
    private final NodeTree empty = NodeTree.empty();
    private BiConsumer<NodeTree, List<String>> listener = (before, deleted) -> {};

    /** Tells all nodes as they were before a transaction, and the paths that it deletes. */
    void onAdded(BiConsumer<NodeTree, List<String>> told) {
        listener = told;
    }

    void add(Proposal proposal) {
        NodeTree before = tree();
        log.add(proposal);
        listener.accept(
                before,
                proposal.transaction().changes().stream()
                        .filter(change -> change.kind().isDeletion())
                        .map(Draft.Change::path)
                        .toList());
    }

    int size() {
        return log.size();
    }

    Proposal get(int index) {
        return log.get(index);
    }

    NodeTree tree() {
        return treeAfter(log.size());
    }

    NodeTree treeAfter(int count) {
        return count == 0 ? empty : log.get(count - 1).transaction().tree();
    }

    long zxidAfter(int count) {
        return count == 0 ? 0 : log.get(count - 1).transaction().zxid();
    }
}
