// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import dev.zkrecipes.core.RevocationRequest;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.zookeeper.Op;

/**
 * A hold that stands on leases of this library, as that of a multi-lock of several clients does: it knows everything
 * that a {@link dev.zkrecipes.core.Lease} tells. Implementations are thread-safe.
 */
public interface FencedHold extends ForeignLock.Hold {

    /**
     * See {@link dev.zkrecipes.core.Lease#fencingTokens()}.
     *
     * @return the tokens by path
     */
    Map<String, Long> fencingTokens();

    /**
     * See {@link dev.zkrecipes.core.Lease#guards()}.
     *
     * @return the checks, at least one
     */
    List<Op> guards();

    /**
     * See {@link dev.zkrecipes.core.Lease#verify()}.
     *
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     */
    void verify() throws InterruptedException;

    /**
     * See {@link dev.zkrecipes.core.Lease#onRevocationRequested}.
     *
     * @param listener called once for each request, until the hold is released or lost
     */
    void onRevocationRequested(Consumer<RevocationRequest> listener);

    /** Gives the lock back as {@link #release} does, but does not wait. One of the two is called, once. */
    void releaseInBackground();

    /**
     * When the lock has been given back.
     *
     * @return done when it has; called after {@link #release} or {@link #releaseInBackground}
     */
    CompletableFuture<Void> released();
}
