// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.rwlock;

import dev.zkrecipes.test.contract.ReadWriteLockContract;
import dev.zkrecipes.test.contract.ReadWritePair;

class ReadWriteLockContractIT extends ReadWriteLockContract {
    @Override
    protected ReadWritePair.Maker locks() {
        return (client, path, options) -> {
            InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, path, options);
            return new ReadWritePair(lock.readLock(), lock.writeLock());
        };
    }
}
