// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import org.junit.jupiter.api.Nested;

/**
 * All suites for one lock:
 *
 * <pre>{@code
 * class InterProcessMutexContractIT extends LockContract {
 *     @Override
 *     protected Recipe recipe() {
 *         return Recipe.exclusive(InterProcessMutex::new, Ownership.REENTRANT_THREAD);
 *     }
 * }
 * }</pre>
 */
public abstract class LockContract {

    /** For subclasses. */
    protected LockContract() {}

    /**
     * The lock under test.
     *
     * @return how to make it and its rival
     */
    protected abstract Recipe recipe();

    @Nested
    class Acquire extends AcquireContract {
        @Override
        protected Recipe recipe() {
            return LockContract.this.recipe();
        }
    }

    @Nested
    class Session extends SessionContract {
        @Override
        protected Recipe recipe() {
            return LockContract.this.recipe();
        }
    }

    @Nested
    class Loss extends LossContract {
        @Override
        protected Recipe recipe() {
            return LockContract.this.recipe();
        }
    }

    @Nested
    class Counter extends CounterContract {
        @Override
        protected Recipe recipe() {
            return LockContract.this.recipe();
        }
    }

    @Nested
    class Truth extends LeaseContract {
        @Override
        protected Recipe recipe() {
            return LockContract.this.recipe();
        }
    }

    @Nested
    class Revocation extends RevocationContract {
        @Override
        protected Recipe recipe() {
            return LockContract.this.recipe();
        }
    }
}
