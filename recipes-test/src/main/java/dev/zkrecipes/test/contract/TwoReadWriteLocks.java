// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import dev.zkrecipes.core.LockOptions;
import org.junit.jupiter.api.BeforeEach;

/** The setting of suites for read-write locks: two clients and the same lock through each of them. */
abstract class TwoReadWriteLocks extends TwoClients {
    ReadWritePair lock;
    ReadWritePair rival;

    TwoReadWriteLocks() {}

    /** {@return what makes the lock under test; the same at each call} */
    protected abstract ReadWritePair.Maker locks();

    @BeforeEach
    void make() {
        lock = locks().make(client, path, LockOptions.defaults());
        rival = locks().make(other, path, LockOptions.defaults());
    }
}
