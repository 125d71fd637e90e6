// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

/**
 * Capabilities that some locks have and others do not, with one suite for each. A test opts in with a nested class of
 * one line.
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

    /** {@return a recipe for the lock under test and its rival, the same in each call} */
    protected abstract Recipe recipe();

    /** For a lock that the holding thread can acquire again at once, and that no other thread may release. */
    protected abstract class Reentrant extends ReentrantContract {
        /** Creates the suite; a nested class of the test extends it. */
        protected Reentrant() {}

        @Override
        protected Recipe recipe() {
            return LockCapabilityContract.this.recipe();
        }
    }

    /**
     * For a lock that any thread may release: the lock object owns its one hold, or each acquire is a separate
     * request.
     */
    protected abstract class AnyThread extends AnyThreadContract {

        /** Creates the suite; a nested class of the test extends it. */
        protected AnyThread() {}

        @Override
        protected Recipe recipe() {
            return LockCapabilityContract.this.recipe();
        }
    }

    /** For a lock whose holders are notified when somebody asks them to release it. */
    protected abstract class Revocable extends RevocationContract {
        /** Creates the suite; a nested class of the test extends it. */
        protected Revocable() {}

        @Override
        protected Recipe recipe() {
            return LockCapabilityContract.this.recipe();
        }
    }

    /** For a lock whose sequence numbers are reset before they repeat. */
    protected abstract class Renewable extends CounterContract {
        /** Creates the suite; a nested class of the test extends it. */
        protected Renewable() {}

        @Override
        protected Recipe recipe() {
            return LockCapabilityContract.this.recipe();
        }
    }
}
