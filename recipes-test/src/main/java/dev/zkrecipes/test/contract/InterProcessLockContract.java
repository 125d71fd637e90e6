// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import org.junit.jupiter.api.Nested;

/**
 * Everything that {@link dev.zkrecipes.core.InterProcessLock} and {@link dev.zkrecipes.core.Lease} promise for any
 * lock, whether or not it is implemented with the engine of this library.
 *
 * <pre>{@code
 * class InterProcessMutexContractIT extends InterProcessLockContract {
 *     @Override
 *     protected Recipe recipe() {
 *         return Recipe.exclusive(InterProcessMutex::new, Ownership.REENTRANT_THREAD);
 *     }
 *
 *     @Nested
 *     class Holds extends Reentrant {}
 * }
 * }</pre>
 *
 * <p>To test capabilities that only some locks have, add nested classes; see {@link LockCapabilityContract}. The suites
 * start a server in this JVM. They assume that each request is one ephemeral node of the client's session in each of
 * {@link Recipe#queues()}, unless the lock is {@linkplain Recipe#withLocalHandoffs handed over inside the process}.
 * They also assume that a waiting request watches the node that it waits for.
 */
public abstract class InterProcessLockContract extends LockCapabilityContract {

    /** Creates the suite; the test of a lock extends it. */
    protected InterProcessLockContract() {}

    @Nested
    class Acquire extends AcquireContract {
        @Override
        protected Recipe recipe() {
            return InterProcessLockContract.this.recipe();
        }
    }

    @Nested
    class Turns extends TurnsContract {
        @Override
        protected Recipe recipe() {
            return InterProcessLockContract.this.recipe();
        }
    }

    @Nested
    class Interrupt extends InterruptContract {
        @Override
        protected Recipe recipe() {
            return InterProcessLockContract.this.recipe();
        }
    }

    @Nested
    class Session extends SessionContract {
        @Override
        protected Recipe recipe() {
            return InterProcessLockContract.this.recipe();
        }
    }

    @Nested
    class Loss extends LossContract {
        @Override
        protected Recipe recipe() {
            return InterProcessLockContract.this.recipe();
        }
    }

    @Nested
    class Truth extends LeaseContract {
        @Override
        protected Recipe recipe() {
            return InterProcessLockContract.this.recipe();
        }
    }
}
