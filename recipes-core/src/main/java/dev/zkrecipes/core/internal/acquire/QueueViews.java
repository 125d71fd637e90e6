// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.ChildrenSnapshot;
import dev.zkrecipes.core.internal.session.Session;
import java.util.HashMap;
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

    /** The view of a path; it begins with this list if nothing waits there yet. */
    QueueView at(Session session, String path, ChildrenSnapshot list) {
        Key key = new Key(session, path);
        return views.computeIfAbsent(key, absent -> new QueueView(session, path, list, () -> views.remove(key)));
    }

    public boolean isEmpty() {
        return views.isEmpty();
    }
}
