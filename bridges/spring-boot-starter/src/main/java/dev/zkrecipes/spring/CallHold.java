// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.spi.LockInternals;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ClassUtils;

/** The hold of one call of an annotated method. The call ends it or, within a transaction, that transaction does. */
final class CallHold implements AutoCloseable {
    static final boolean HAS_TRANSACTIONS = ClassUtils.isPresent(
            "org.springframework.transaction.support.TransactionSynchronizationManager",
            CallHold.class.getClassLoader());
    private static final Logger log = LoggerFactory.getLogger(CallHold.class);
    /** The hold of the innermost annotated method that runs on a thread. */
    private static final ThreadLocal<@Nullable CallHold> INNERMOST = new ThreadLocal<>();

    private final Lease lease;
    private final String method;
    private final Collection<CallHold> open;
    private final Runnable forget;
    private final Thread thread = Thread.currentThread();
    private @Nullable CallHold outer;
    private volatile boolean isOver;

    /**
     * Creates a hold of the calling thread. The client's close waits until this hold ends.
     *
     * @param open the open holds, which contain this one until it is closed
     * @throws dev.zkrecipes.core.ClientClosedException if the client is being closed; the lease is closed then
     */
    CallHold(LockInternals lock, Lease lease, String method, Collection<CallHold> open) {
        this.lease = lease;
        this.method = method;
        this.open = open;
        try {
            forget = lock.endBeforeClient(this::ended);
        } catch (LockException closing) {
            lease.close();
            throw closing;
        }
        open.add(this);
    }

    /**
     * Returns what the client's close waits for: the end of the lease. If the method itself closes the client, the
     * close does not wait, because it would wait for itself.
     */
    private CompletableFuture<Void> ended() {
        return thread == Thread.currentThread()
                ? CompletableFuture.completedFuture(null)
                : lease.ended().toCompletableFuture().thenAccept(state -> {});
    }

    Lease lease() {
        return lease;
    }

    /** Makes this the innermost hold of its thread. Called on that thread when the method begins. */
    void enter() {
        outer = INNERMOST.get();
        INNERMOST.set(this);
    }

    /**
     * Makes the outer hold, if there is one, the innermost hold of the thread again. Called on that thread when the
     * method has ended.
     */
    void leave() {
        if (outer == null) {
            INNERMOST.remove();
        } else {
            INNERMOST.set(outer);
        }
    }

    /**
     * Makes the transaction in which the method was called, if there is one, close the hold. Returns whether there is
     * one.
     */
    static boolean belongsToTransaction(CallHold hold) {
        return HAS_TRANSACTIONS && Transactions.closes(hold);
    }

    void requireHeldUntilNow() {
        if (isOver || lease.state() == LeaseState.LOST) {
            String reason = (isOver ? "given back with the transaction" : "lost") + " while " + method + " ran";
            throw new LockLostException(
                    "the lock " + lease.path() + " was " + reason
                            + ": another process may have done the same meanwhile, so check what it did",
                    "it was " + reason);
        }
    }

    void requireNotLostBeforeCommit() {
        if (lease.state() == LeaseState.LOST) {
            throw new LockLostException(
                    "the lock " + lease.path() + " of " + method
                            + " was lost before the transaction was committed, so it is rolled back",
                    "it was lost before the transaction was committed");
        }
    }

    /** Throws if the lock of any annotated method that runs on this thread is lost. */
    static void requireNoneLostBeforeCommit() {
        for (CallHold hold = INNERMOST.get(); hold != null; hold = hold.outer) {
            hold.requireNotLostBeforeCommit();
        }
    }

    @Override
    public void close() {
        open.remove(this);
        forget.run();
        lease.close();
    }

    /** Closes the hold at the end of its transaction. An error is only logged, because no caller would receive it. */
    void closeWithTransaction() {
        isOver = true;
        try {
            close();
        } catch (RuntimeException e) {
            log.warn(
                    "The lock {} of {}, acquired by the thread {}, could not be given back at the end of its"
                            + " transaction: see the cause for what to do.",
                    lease.path(),
                    method,
                    thread.getName(),
                    e);
        }
    }
}
