// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Whose holds the acquires of a lock are, and where they are recorded. Thread-safe. */
public interface HoldTable {

    /** The record that the calling thread's acquires and releases work on; null if there is none yet. */
    @Nullable
    LockData mine();

    /** The same, made if there is none yet. */
    LockData mineToOpen();

    /**
     * The grants that one more hold of the caller can stand on; null if he has to queue.
     *
     * @throws dev.zkrecipes.core.LockLostException if he has to give back a lost hold first
     * @throws dev.zkrecipes.core.LockRefusedException if he would wait for himself
     */
    @Nullable
    List<HeldNode> toReenter();

    /** Forgets a record that has no open holds left. */
    void forget(LockData empty);

    /** All records. */
    Collection<LockData> all();

    /** Holds belong to the thread that acquired them, which may acquire again at once. */
    record PerThread(ThreadHolds threads, LockGroup targets) implements HoldTable {
        @Override
        public @Nullable LockData mine() {
            return threads.mine();
        }

        @Override
        public LockData mineToOpen() {
            return threads.mineToOpen();
        }

        @Override
        public @Nullable List<HeldNode> toReenter() {
            LockData mine = mine();
            return mine == null ? null : mine.grantsToReenter(targets);
        }

        @Override
        public void forget(LockData empty) {
            threads.forget(empty);
        }

        @Override
        public Collection<LockData> all() {
            return threads.all();
        }
    }

    /** Holds belong to the instance: any thread may give them back, and every acquire queues. */
    final class PerInstance implements HoldTable {
        private final LockData record = new LockData(null);
        private final boolean oneAtATime;

        /**
         * Begins without holds.
         *
         * @param oneAtATime whether a lost hold has to be given back before the next acquire
         */
        public PerInstance(boolean oneAtATime) {
            this.oneAtATime = oneAtATime;
        }

        @Override
        public LockData mine() {
            return record;
        }

        @Override
        public LockData mineToOpen() {
            return record;
        }

        @Override
        public @Nullable List<HeldNode> toReenter() {
            if (oneAtATime) {
                record.requireNoneLost();
            }
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
