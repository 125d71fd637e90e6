// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.node.HeldNode;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A request for a lock, under way. */
public interface Acquisition {

    /** Whether to queue, or to take the lock only if nobody is in front. */
    enum Mode {
        QUEUE,
        TRY
    }

    String lockPath();

    List<String> paths();

    /** Begins. Any thread. */
    void launch();

    /**
     * Completes once: with a held node for each lock, empty if the lock is busy and the mode is TRY, or with a
     * LockException.
     */
    CompletableFuture<Optional<List<HeldNode>>> outcome();

    /** Whether another request was seen holding the lock, or queued ahead of this one. Any thread. */
    boolean wasSeenBusy();

    /** Why there is no session to ask in, if that is known. Any thread. */
    default Optional<LockException> obstacle() {
        return Optional.empty();
    }

    /** Gives up, unless there is an outcome already; returns whether it gave up. Any thread. */
    boolean giveUp();

    /** Gives up. Returns what it was granted, if the grant came first; otherwise null. Any thread. */
    default @Nullable List<HeldNode> giveUpUnlessGranted() {
        return giveUp() || outcome().isCompletedExceptionally()
                ? null
                : outcome().getNow(Optional.empty()).orElse(null); // it has ended
    }

    /** Ends it with an error, unless it has ended. On the engine thread. */
    void fail(LockException why);
}
