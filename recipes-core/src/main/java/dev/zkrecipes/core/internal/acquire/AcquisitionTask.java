// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.node.HeldNodes;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.session.SessionTask;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;

/**
 * A machine whose outcome is a grant. The first to complete the outcome decides: the engine with a grant, or the caller
 * by giving up. A grant that comes too late is given back.
 */
abstract class AcquisitionTask extends SessionTask implements Acquisition {
    final Requests requests;
    final LockGroup group;
    final Mode mode;
    private final CompletableFuture<Optional<List<HeldNode>>> outcome = new CompletableFuture<>();

    AcquisitionTask(Requests requests, LockGroup group, Mode mode, Enum<?> seeking, Enum<?> paused) {
        super(requests.sessions(), requests.pace(), seeking, paused);
        this.requests = requests;
        this.group = group;
        this.mode = mode;
    }

    /** Begins, on the engine thread. */
    abstract void start();

    /** Gives up the nodes of a machine that ends without a grant. */
    abstract void leave();

    @Override
    public final String lockPath() {
        return group.path();
    }

    @Override
    public final List<String> paths() {
        return group.paths();
    }

    // ---- What callers do, on any thread.

    @Override
    public final CompletableFuture<Optional<List<HeldNode>>> outcome() {
        return outcome;
    }

    @Override
    public final void launch() {
        requests.enter(this);
        requests.scheduler()
                .execute(() -> guard(() -> {
                    if (outcome.isDone()) {
                        end(() -> {});
                    } else {
                        start();
                    }
                }));
    }

    @Override
    public final boolean giveUp() {
        if (outcome.isDone()) {
            return false; // it has ended or is about to
        }
        boolean first = outcome.completeExceptionally(new CancellationException());
        requests.scheduler().execute(() -> end(() -> {}));
        return first;
    }

    // ---- Endings.

    final void endAsGranted(List<HeldNode> held) {
        over(() -> {
            if (!outcome.complete(Optional.of(held))) {
                HeldNodes.release(held);
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
