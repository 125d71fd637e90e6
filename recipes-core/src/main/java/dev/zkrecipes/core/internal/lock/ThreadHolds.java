// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What each thread holds through one client, whichever locks it holds it through: a lock of several members finds what
 * is held of them, and the two modes of a lock find each other. Thread-safe.
 */
public final class ThreadHolds {
    // A thread adds and removes its own record only; a dead thread's is removed by who closes its last hold.
    private final Map<Thread, LockData> records = new ConcurrentHashMap<>();

    @Nullable
    public LockData mine() {
        return records.get(Thread.currentThread());
    }

    public LockData mineToOpen() {
        return records.computeIfAbsent(Thread.currentThread(), LockData::new);
    }

    public void forget(LockData empty) {
        Thread owner = empty.owner();
        if (owner != null) {
            records.remove(owner, empty);
        }
    }

    public Collection<LockData> all() {
        return records.values();
    }

    public boolean isEmpty() {
        return records.isEmpty();
    }
}
