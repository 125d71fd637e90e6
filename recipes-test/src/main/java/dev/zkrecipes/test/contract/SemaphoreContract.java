// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import org.junit.jupiter.api.Nested;

/**
 * All that a fair semaphore must do whose permits belong to no thread, and a number of its permits as an
 * {@link dev.zkrecipes.core.InterProcessLock}.
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
 * <p>A semaphore whose limit can be changed is tested by a nested class that extends {@link Resizable}, too.
 */
public abstract class SemaphoreContract {
    private static final int LIMIT = 3;

    /** Creates the suite; the test of a semaphore extends it. */
    protected SemaphoreContract() {}

    /** {@return what makes the semaphore under test; the same at each call} */
    protected abstract SemaphoreMaker semaphores();

    /**
     * {@return a number of permits as a lock, and all permits as its rival} Override it if the semaphore is made
     * {@linkplain Recipe#withLocalHandoffs with local hand-overs}.
     */
    protected Recipe permits() {
        return Recipe.rivals(
                (client, path, options) ->
                        semaphores().make(client, path, LIMIT, options).apply(LIMIT - 1),
                (client, path, options) ->
                        semaphores().make(client, path, LIMIT, options).apply(LIMIT),
                Ownership.NOBODY);
    }

    /** For what permits as a lock can do beyond what all locks can. */
    protected abstract class AsLock extends LockCapabilityContract {
        /** Creates the suite; a nested class of the test extends it. */
        protected AsLock() {}

        @Override
        protected Recipe recipe() {
            return permits();
        }
    }

    /** The limit can be changed while the semaphore is in use. */
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
