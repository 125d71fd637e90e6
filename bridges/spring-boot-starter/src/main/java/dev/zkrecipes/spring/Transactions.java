// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import dev.zkrecipes.core.spi.LockInternals;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Ties locks to transactions. A lock acquired within a transaction is kept until the transaction has ended, because
 * nobody else sees what it wrote before that. A transaction is not committed if a lock acquired within it is lost, or
 * if the lock of an annotated method in which it runs is lost. For the latter, this class is a listener of every
 * transaction manager. The manager calls it after everything else that precedes a commit.
 *
 * <p>The JVM cannot load this class without Spring's transactions: see {@link CallHold#HAS_TRANSACTIONS}.
 */
final class Transactions implements BeanPostProcessor, TransactionExecutionListener {

    /** Makes the thread's transaction close the hold. Returns false if the thread has no transaction. */
    static boolean closes(CallHold hold) {
        if (!TransactionSynchronizationManager.isSynchronizationActive()) {
            return false;
        }
        LockInternals.letAnyThreadClose(hold.lease());
        TransactionSynchronizationManager.registerSynchronization(new End(hold));
        return true;
    }

    /** Closes a hold at the end of its transaction. */
    private record End(CallHold hold) implements TransactionSynchronization {
        @Override
        public void beforeCommit(boolean readOnly) { // for managers that call no listener
            hold.requireNotLostBeforeCommit();
        }

        @Override
        public void afterCompletion(int status) { // on any thread
            hold.closeWithTransaction();
        }
    }

    @Override
    public Object postProcessBeforeInitialization(Object bean, String name) {
        if (bean instanceof ConfigurableTransactionManager manager) {
            manager.addListener(this);
        }
        return bean;
    }

    @Override
    public void beforeCommit(TransactionExecution transaction) {
        CallHold.requireNoneLostBeforeCommit();
        if (TransactionSynchronizationManager.isSynchronizationActive()) {
            for (TransactionSynchronization each : TransactionSynchronizationManager.getSynchronizations()) {
                if (each instanceof End end) {
                    end.hold.requireNotLostBeforeCommit();
                }
            }
        }
    }
}
