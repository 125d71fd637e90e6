// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import dev.zkrecipes.core.Lease;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/** A lock that is acquired within a transaction is kept until that is over: earlier, nobody else sees what it wrote. */
final class AfterTransaction {
    private static final boolean HAS_TRANSACTIONS = ClassUtils.isPresent(
            "org.springframework.transaction.support.TransactionSynchronizationManager",
            AfterTransaction.class.getClassLoader());

    private AfterTransaction() {}

    /** Whether the lease is closed by the end of the thread's transaction; false if it has none. */
    static boolean closes(Lease lease) {
        return HAS_TRANSACTIONS && Transaction.closes(lease);
    }

    /** Where there are no transactions the JVM refuses this class as soon as it sees it. */
    private static final class Transaction {
        static boolean closes(Lease lease) {
            if (!TransactionSynchronizationManager.isSynchronizationActive()) {
                return false;
            }
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void afterCompletion(int status) {
                    lease.close();
                }
            });
            return true;
        }
    }
}
