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
 * What locks have to do with transactions. A lock that is acquired within one is kept until it is over: earlier, nobody
 * else sees what it wrote. And no transaction is committed whose lock is lost: neither one that is acquired within, nor
 * that of an annotated method in which the transaction runs. To see the latter, this is a listener of every transaction
 * manager. The manager calls it after everything else that precedes a commit.
 *
 * <p>The JVM cannot load this class without Spring's transactions: see {@link CallHold#HAS_TRANSACTIONS}.
 */
final class Transactions implements BeanPostProcessor, TransactionExecutionListener {

    /** Whether the thread's transaction closes the hold; false if it has none. */
    static boolean closes(CallHold hold) {
        if (!TransactionSynchronizationManager.isSynchronizationActive()) {
            return false;
        }
        LockInternals.letAnyThreadClose(hold.lease());
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
            @Override
            public void beforeCommit(boolean readOnly) {
                hold.requireNotLostBeforeCommit();
            }

            @Override
            public void afterCompletion(int status) { // on any thread
                hold.closeWithTransaction();
            }
        });
        return true;
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
    }
}
