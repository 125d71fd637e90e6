// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.internal.queue.LockQueue;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.ChildrenSnapshot;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.LockSnapshot;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.List;
import java.util.Set;

/** One look at the queue of a lock and at its rule, by one request. */
final class SnapshotQuery extends OneShotRequest<LockSnapshot> {
    public SnapshotQuery(LockHost client, LockSpec spec) {
        super(client, spec, "the queue of");
    }

    @Override
    public void ask(Session session) {
        list(session, this::onList);
    }

    private void onList(ChildrenSnapshot list) {
        switch (list.code()) {
            case OK, NONODE -> {
                LockQueue queue = LockQueue.in(list, spec());
                Set<LockNode> holding = queue.holding();
                List<LockSnapshot.Place> places = queue.nodes().stream()
                        .map(node -> new LockSnapshot.Place(node, holding.contains(node)))
                        .toList();
                answer(new LockSnapshot(list.rule(spec().path()).map(Content::data), places));
            }
            default -> fail("list " + spec().path(), list.answer());
        }
    }
}
