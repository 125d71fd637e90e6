// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.spi.LockSnapshot;
import dev.zkrecipes.core.spi.ZooKeeperOperations.Content;
import java.util.List;

/** One look at the queue of a lock and at its rule, by one request. */
final class SnapshotQuery extends Question<LockSnapshot> {
    SnapshotQuery(LockTarget target) {
        super(target, "the queue of");
    }

    @Override
    void ask(Session session) {
        session.lists().ask(LockTargets.of(target()).query(), look -> guard(() -> onLook(look)));
    }

    private void onLook(Look look) {
        switch (look.code()) {
            case OK, NONODE -> {
                LockQueue queue = look.queue(target());
                List<LockSnapshot.Place> places = queue.nodes().stream()
                        .map(node -> new LockSnapshot.Place(node, queue.holds(node)))
                        .toList();
                answer(new LockSnapshot(look.rule(target().path()).map(Content::data), places));
            }
            default -> fail("list " + target().path(), look.answer());
        }
    }
}
