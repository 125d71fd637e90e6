// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.hold.Grant;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.source.SessionTask;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * A request for a lock, with one outcome. Whoever completes the outcome first decides it: the engine with a grant or an
 * error, or the caller by giving up. A grant that comes too late is released.
 *
 * <p>Subclasses are confined to the engine thread. Callers may launch a request, wait for it and give it up on any
 * thread.
 */
public abstract sealed class Acquisition extends SessionTask permits AcquireLoop, Downgrade {

    /** Whether to queue, or to take the lock only if nobody is in front. */
    public enum Mode {
        QUEUE,
        TRY
    }

    final Requests requests;
    final LockGroup group;
    final Mode mode;
    volatile boolean seenBusy; // see wasSeenBusy()
    volatile @Nullable LockException obstacle; // see obstacle()
    private final CompletableFuture<Optional<Grant>> outcome = new CompletableFuture<>();

    Acquisition(Requests requests, LockGroup group, Mode mode, Enum<?> seeking, Enum<?> paused) {
        super(requests.sessions(), requests.pauses(), seeking, paused);
        this.requests = requests;
        this.group = group;
        this.mode = mode;
    }

    /** Begins the request. Called on the engine thread. */
    abstract void start();

    /** Discards the nodes of a request that ends without a grant. */
    abstract void leave();

    /**
     * Whether another request was seen holding the lock, or queued ahead of this one. May be called from any thread.
     */
    public final boolean wasSeenBusy() {
        return seenBusy;
    }

    /** Returns why the request has no session; empty if that is not known. May be called from any thread. */
    public final Optional<LockException> obstacle() {
        return Optional.ofNullable(obstacle);
    }

    @Override
    public final String lockPath() {
        return group.path();
    }

    @Override
    public final List<String> paths() {
        return group.paths();
    }

    // ---- What callers do, on any thread.

    /**
     * Returns the future outcome: a grant, which has a held node for each lock; empty if a try finds the lock busy; a
     * LockException if the request fails; a CancellationException if the caller gives it up.
     */
    public final CompletableFuture<Optional<Grant>> outcome() {
        return outcome;
    }

    /** Begins the request. If the client has ended, the outcome is an error. */
    public final void launch() {
        if (!requests.enter(this)) {
            outcome.completeExceptionally(requests.closedFor(lockPath()));
        }
        requests.scheduler()
                .execute(() -> guard(() -> {
                    if (outcome.isDone()) {
                        end(() -> {});
                    } else {
                        start();
                    }
                }));
    }

    /** Gives up the request, unless it has an outcome already. Returns whether this call gave it up. */
    public final boolean giveUp() {
        if (outcome.isDone()) {
            return false; // the request has ended, or is about to
        }
        boolean first = outcome.completeExceptionally(new CancellationException());
        requests.scheduler().execute(() -> end(() -> {}));
        return first;
    }

    /** Gives up the request. Returns its grant if it was granted first; otherwise null. */
    public final @Nullable Grant giveUpUnlessGranted() {
        return giveUp() || outcome.isCompletedExceptionally()
                ? null
                : outcome.getNow(Optional.empty()).orElse(null); // the request has ended
    }

    // ---- Endings.

    /**
     * Handles a step that got no answer, or a refusal: repeats it after a pause, once there is a connection, or ends
     * the request. A try does not wait for a connection, unless a server may have refused the client: then the next
     * attempt shows that.
     */
    void retryOrFail(String what, Answer<?> answer, Runnable again) {
        if (answer.code() == Code.SESSIONEXPIRED) {
            session().become(State.EXPIRED);
        } else if (!answer.isUnsettled()) {
            fail(ZooKeeperErrors.of(group.path(), what, answer));
        } else if (mode == Mode.TRY && !session().mayBeRefused()) {
            fail(new LockConnectionException("lost the connection to ZooKeeper (" + answer.code()
                    + ") while trying for the lock " + group.path() + "; try again"));
        } else {
            pauseThen(again);
        }
    }

    /** Ends the request with a grant. If the caller has given up before, nobody takes the grant, so it is released. */
    final void endAsGranted(Grant granted) {
        over(() -> {
            if (!outcome.complete(Optional.of(granted))) {
                granted.release();
            }
        });
    }

    /** Ends the request without a grant, because the lock is busy. */
    final void endAsBusy() {
        end(() -> outcome.complete(Optional.empty()));
    }

    @Override
    public final void fail(LockException why) {
        end(() -> outcome.completeExceptionally(why));
    }

    private void end(Runnable last) {
        if (isOver()) {
            last.run(); // memory may have run out before it could run the first time
        } else {
            try {
                leave();
            } finally {
                over(last); // whatever is thrown, the caller must not wait forever
            }
        }
    }

    private void over(Runnable last) {
        try {
            finish();
        } finally {
            last.run();
            requests.exit(this); // last: until the request has an outcome, the end of the client must find it
        }
    }
}
