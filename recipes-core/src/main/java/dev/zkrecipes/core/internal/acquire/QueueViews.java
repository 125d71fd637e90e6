// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.internal.node.OwnNode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.ChildrenSnapshot;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.spi.LockNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The queues that requests of one client wait in: one view for each session and path. Confined to the engine thread.
 */
public final class QueueViews {
    private record Key(Session session, String path) {}

    private final Map<Key, QueueView> views = new HashMap<>();

    /** Tells the views of these paths of a list that was taken just now. */
    void accept(Session session, LockGroup group, ChildrenSnapshot list) {
        if (views.isEmpty()) {
            return;
        }
        for (LockSpec spec : group.all()) {
            QueueView view = views.get(new Key(session, spec.path()));
            if (view != null) {
                view.accept(list);
            }
        }
    }

    /**
     * Gives each node of a group, which is in the list, a place in the queue of its path.
     *
     * @param own the same nodes as the drivers see them
     */
    List<QueuePlace> enter(
            Session session,
            LockGroup group,
            List<OwnNode> nodes,
            List<LockNode> own,
            ChildrenSnapshot list,
            Waiter waiter) {
        List<QueuePlace> entered = new ArrayList<>(nodes.size());
        for (int i = 0; i < nodes.size(); i++) {
            LockSpec spec = group.all().get(i);
            entered.add(at(session, spec.path(), list).enter(spec, nodes.get(i), own.get(i), waiter));
        }
        return entered;
    }

    /** The view of a path; it begins with this list if nothing waits there yet. */
    private QueueView at(Session session, String path, ChildrenSnapshot list) {
        Key key = new Key(session, path);
        return views.computeIfAbsent(key, absent -> new QueueView(session, path, list, () -> views.remove(key)));
    }

    public boolean isEmpty() {
        return views.isEmpty();
    }
}
