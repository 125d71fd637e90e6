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

/** A request for a lock. The first to complete its outcome decides: the engine, or the caller by giving up. */
public abstract sealed class Acquisition extends SessionTask permits AcquireLoop, Downgrade {

    public enum Mode {
        QUEUE,
        TRY
    }

    final Requests requests;
    final LockGroup group;
    final Mode mode;
    volatile boolean seenBusy;
    volatile @Nullable LockException obstacle;
    private final CompletableFuture<Optional<Grant>> outcome = new CompletableFuture<>();

    Acquisition(Requests requests, LockGroup group, Mode mode, Enum<?> seeking, Enum<?> paused) {
        super(requests.sessions(), requests.pauses(), seeking, paused);
        this.requests = requests;
        this.group = group;
        this.mode = mode;
    }

    abstract void start();

    abstract void leave();

    /** Whether another request was seen holding the lock, or queued ahead of this one. Any thread. */
    public final boolean wasSeenBusy() {
        return seenBusy;
    }

    /** Why there is no session to ask in, if that is known. Any thread. */
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

    /** Completes once: with a held node for each lock, empty if the lock is busy in a try, or with a LockException. */
    public final CompletableFuture<Optional<Grant>> outcome() {
        return outcome;
    }

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

    /** Gives up, unless there is an outcome already; returns whether it gave up. */
    public final boolean giveUp() {
        if (outcome.isDone()) {
            return false; // it has ended or is about to
        }
        boolean first = outcome.completeExceptionally(new CancellationException());
        requests.scheduler().execute(() -> end(() -> {}));
        return first;
    }

    /** Gives up. Returns what it was granted, if the grant came first; otherwise null. */
    public final @Nullable Grant giveUpUnlessGranted() {
        return giveUp() || outcome.isCompletedExceptionally()
                ? null
                : outcome.getNow(Optional.empty()).orElse(null); // it has ended
    }

    // ---- Endings.

    /** Goes on after a failure: asks again when there is a connection, or ends. */
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

    final void endAsGranted(Grant granted) {
        over(() -> {
            if (!outcome.complete(Optional.of(granted))) {
                granted.release();
            }
        });
    }

    final void endAsBusy() {
        end(() -> outcome.complete(Optional.empty()));
    }

    @Override
    public final void fail(LockException why) {
        end(() -> outcome.completeExceptionally(why));
    }

    private void end(Runnable last) {
        if (isOver()) {
            last.run(); // there may have been no memory for it
        } else {
            try {
                leave();
            } finally {
                over(last); // whatever was thrown, the caller must not wait forever
            }
        }
    }

    private void over(Runnable last) {
        try {
            finish();
        } finally {
            last.run();
            requests.exit(this); // not before: as long as it has no outcome, the end of the client must find it
        }
    }
}
