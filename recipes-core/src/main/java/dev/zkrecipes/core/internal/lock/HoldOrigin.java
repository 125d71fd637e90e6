// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.internal.queue.LockGroup;
import java.util.concurrent.CompletableFuture;

/** The lock through which a {@link Hold} was acquired. */
interface HoldOrigin {
    LockHost client();

    LockGroup targets();

    String path();

    /** Releases those grants on which no hold stands any more, now that this one has left the record. */
    CompletableFuture<Void> giveBack(Hold lease);

    /** A hold's grant has ended: the record of a dead owner is of no more use. On the engine thread. */
    void onHoldEnded(Hold lease);

    /** Whether giving back waits for ZooKeeper's answer and reports it. */
    boolean confirmsRelease();

    /** Waits for ZooKeeper's confirmation that the node is gone, as long as there is a connection. */
    void awaitRelease(CompletableFuture<Void> givenBack);
}
