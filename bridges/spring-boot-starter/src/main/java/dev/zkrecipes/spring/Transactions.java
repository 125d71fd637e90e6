// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * What locks have to do with transactions. A lock that is acquired within one is kept until it is over: earlier, nobody
 * else sees what it wrote. And no transaction is committed whose lock is lost: neither one that is acquired within, nor
 * that of an annotated method in which the transaction runs.
 */
final class Transactions {
    private static final boolean THERE = ClassUtils.isPresent(
            "org.springframework.transaction.support.TransactionSynchronizationManager",
            Transactions.class.getClassLoader());

    private Transactions() {}

    /** Whether the thread's transaction closes the hold; false if it has none. */
    static boolean closes(CallHold hold) {
        return THERE && Current.closes(hold);
    }

    /** Makes all managers of transactions look at the locks before they commit. */
    static void lookBeforeCommits(ConfigurableListableBeanFactory beans) {
        if (THERE) {
            beans.addBeanPostProcessor(new Managers());
        }
    }

    /** Where there are no transactions the JVM refuses this class as soon as it sees it. */
    private static final class Current {
        static boolean closes(CallHold hold) {
            if (!TransactionSynchronizationManager.isSynchronizationActive()) {
                return false;
            }
            hold.belongToTransaction();
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void beforeCommit(boolean readOnly) {
                    hold.requireNotLostBeforeCommit();
                }

                @Override
                public void afterCompletion(int status) {
                    hold.closeWithTransaction();
                }
            });
            return true;
        }
    }

    /** The listener is called last, when all that is to be done before a commit is done. */
    private static final class Managers implements BeanPostProcessor, TransactionExecutionListener {
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
}
