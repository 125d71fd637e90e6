// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import org.junit.jupiter.api.Nested;

/**
 * Everything that a fair semaphore must do whose permits belong to no thread. Any number of its permits, acquired
 * together, is an {@link dev.zkrecipes.core.InterProcessLock}, and must keep the promises of one.
 *
 * <pre>{@code
 * class PermitsContractIT extends SemaphoreContract {
 *     @Override
 *     protected SemaphoreMaker semaphores() {
 *         return (client, path, limit, options) -> new InterProcessSemaphore(client, path, limit, options)::permits;
 *     }
 *
 *     @Nested
 *     class Asked extends AsLock {
 *         @Nested
 *         class Back extends Revocable {}
 *     }
 * }
 * }</pre>
 *
 * <p>If the limit of the semaphore can be changed, add a nested class that extends {@link Resizable}.
 */
public abstract class SemaphoreContract {
    private static final int LIMIT = 3;

    /** Creates the suite; the test of a semaphore extends it. */
    protected SemaphoreContract() {}

    /** {@return a maker of the semaphore under test, the same in each call} */
    protected abstract SemaphoreMaker semaphores();

    /**
     * {@return a recipe with some of the permits as the lock, and all permits as its rival} Override this method if the
     * semaphore is created {@linkplain Recipe#withLocalHandoffs with local hand-overs}.
     */
    protected Recipe permits() {
        return Recipe.rivals(
                (client, path, options) ->
                        semaphores().make(client, path, LIMIT, options).apply(LIMIT - 1),
                (client, path, options) ->
                        semaphores().make(client, path, LIMIT, options).apply(LIMIT),
                Ownership.NOBODY);
    }

    /** For capabilities that only some locks have, with permits as the lock. */
    protected abstract class AsLock extends LockCapabilityContract {
        /** Creates the suite; a nested class of the test extends it. */
        protected AsLock() {}

        @Override
        protected Recipe recipe() {
            return permits();
        }
    }

    /** For a semaphore whose limit can be changed while it is in use. */
    protected abstract class Resizable extends ResizeContract {
        /** Creates the suite; a nested class of the test extends it. */
        protected Resizable() {}

        @Override
        protected SemaphoreMaker semaphores() {
            return SemaphoreContract.this.semaphores();
        }
    }

    @Nested
    class Permits extends PermitsContract {
        @Override
        protected SemaphoreMaker semaphores() {
            return SemaphoreContract.this.semaphores();
        }
    }

    @Nested
    class Lock extends InterProcessLockContract {
        @Override
        protected Recipe recipe() {
            return permits();
        }
    }

    @Nested
    class Holds extends AnyThreadContract {
        @Override
        protected Recipe recipe() {
            return permits();
        }
    }
}
