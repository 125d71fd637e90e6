// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import org.junit.jupiter.api.Nested;

/**
 * Everything that a fair read-write lock with a downgrade must do: {@link SharingContract}, and the downgrade.
 *
 * <pre>{@code
 * class CatalogueLockIT extends ReadWriteLockContract {
 *     @Override
 *     protected ReadWritePair.Maker locks() {
 *         return (client, path, options) -> {
 *             InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, path, options);
 *             return new ReadWritePair(lock.readLock(), lock.writeLock());
 *         };
 *     }
 * }
 * }</pre>
 *
 * <p>Each side of the lock is also an {@link dev.zkrecipes.core.InterProcessLock}. So add two tests that extend
 * {@link InterProcessLockContract}: one for the write lock, and one for the read lock with the write lock as its rival.
 * For a lock without a downgrade, extend {@link SharingContract} instead of this class.
 */
public abstract class ReadWriteLockContract {

    /** Creates the suite; the test of a lock extends it. */
    protected ReadWriteLockContract() {}

    /** {@return a maker of the lock under test, the same in each call} */
    protected abstract ReadWritePair.Maker locks();

    @Nested
    class Sharing extends SharingContract {
        @Override
        protected ReadWritePair.Maker locks() {
            return ReadWriteLockContract.this.locks();
        }
    }

    @Nested
    class Downgrade extends DowngradeContract {
        @Override
        protected ReadWritePair.Maker locks() {
            return ReadWriteLockContract.this.locks();
        }
    }
}
