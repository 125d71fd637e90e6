// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

/**
 * What some locks can do and others cannot, one suite for each: a test opts in by a nested class, in one line.
 *
 * <pre>{@code
 * class OrdersLockIT extends InterProcessLockContract {
 *     @Override
 *     protected Recipe recipe() { ... }
 *
 *     @Nested
 *     class Holds extends Reentrant {}
 *
 *     @Nested
 *     class Asked extends Revocable {}
 * }
 * }</pre>
 */
public abstract class LockCapabilityContract {

    /** Creates the suite; the test of a lock extends it. */
    protected LockCapabilityContract() {}

    /** {@return how to make the lock under test and its rival; the same at each call} */
    protected abstract Recipe recipe();

    /** The thread that holds the lock acquires it again at once, and no other thread may release it. */
    protected abstract class Reentrant extends ReentrantContract {
        /** Creates the suite; a nested class of the test extends it. */
        protected Reentrant() {}

        @Override
        protected Recipe recipe() {
            return LockCapabilityContract.this.recipe();
        }
    }

    /** Any thread may release it: the instance holds it, one hold at a time, or each acquire is a separate request. */
    protected abstract class AnyThread extends AnyThreadContract {

        /** Creates the suite; a nested class of the test extends it. */
        protected AnyThread() {}

        @Override
        protected Recipe recipe() {
            return LockCapabilityContract.this.recipe();
        }
    }

    /** Holders learn that others ask for the lock. */
    protected abstract class Revocable extends RevocationContract {
        /** Creates the suite; a nested class of the test extends it. */
        protected Revocable() {}

        @Override
        protected Recipe recipe() {
            return LockCapabilityContract.this.recipe();
        }
    }

    /** The numbers of the queue are reset before they repeat. */
    protected abstract class Renewable extends CounterContract {
        /** Creates the suite; a nested class of the test extends it. */
        protected Renewable() {}

        @Override
        protected Recipe recipe() {
            return LockCapabilityContract.this.recipe();
        }
    }
}
