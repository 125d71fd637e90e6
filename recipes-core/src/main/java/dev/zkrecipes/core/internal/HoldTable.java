// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Who holds what in this process through one lock instance. Thread-safe. */
interface HoldTable {

    /** The record that the calling thread's acquires and releases work on; null if there is none yet. */
    @Nullable
    LockData mine();

    /** The same, made if there is none yet. */
    LockData mineToOpen();

    /** The grant that one more hold of the caller can stand on; null if he has to queue. */
    @Nullable
    Grant toReenter();

    /** Forgets a record that has no open holds left. */
    void forget(LockData empty);

    /** All records. */
    Collection<LockData> all();

    /** Holds belong to the thread that acquired them, which may acquire again at once. */
    final class PerThread implements HoldTable {
        // A thread adds and removes its own record only; a dead thread's is removed by who closes its last hold.
        private final Map<Thread, LockData> records = new ConcurrentHashMap<>();

        @Override
        public @Nullable LockData mine() {
            return records.get(Thread.currentThread());
        }

        @Override
        public LockData mineToOpen() {
            return records.computeIfAbsent(Thread.currentThread(), LockData::new);
        }

        @Override
        public @Nullable Grant toReenter() {
            LockData mine = mine();
            return mine == null ? null : mine.grantToReenter();
        }

        @Override
        public void forget(LockData empty) {
            Thread owner = empty.owner();
            if (owner != null) {
                records.remove(owner, empty);
            }
        }

        @Override
        public Collection<LockData> all() {
            return records.values();
        }
    }

    /** Holds belong to the instance: any thread may give them back, and every acquire queues. */
    final class PerInstance implements HoldTable {
        private final LockData record = new LockData(null);

        @Override
        public LockData mine() {
            return record;
        }

        @Override
        public LockData mineToOpen() {
            return record;
        }

        @Override
        public @Nullable Grant toReenter() {
            record.requireNoneLost();
            return null;
        }

        @Override
        public void forget(LockData empty) {}

        @Override
        public Collection<LockData> all() {
            return List.of(record);
        }
    }
}
