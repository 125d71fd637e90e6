// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;

/** Makes the requests of one client, which are not launched yet. Thread-safe. */
public final class Acquisitions {
    private final Requests requests;
    private final LocalQueues localQueues;

    public Acquisitions(Requests requests) {
        this.requests = requests;
        this.localQueues = new LocalQueues(requests);
    }

    /**
     * A request with a node of its own in ZooKeeper's queue or, as the options say, behind the one that the requests of
     * this client share.
     *
     * @param isAsynchronous whether user code, and not a waiting thread, depends on its outcome
     */
    public Acquisition of(LockGroup group, Mode mode, boolean isAsynchronous) {
        return group.options().localHandoffs() == 0
                ? new AcquireLoop(requests, group, mode)
                : localQueues.acquisition(group, mode, isAsynchronous);
    }

    /** A request of the holder of the exclusive mode for the shared one. */
    public Acquisition downgrade(LockSpec shared, HeldNode exclusive, Mode mode) {
        return new Downgrade(requests, shared, exclusive, mode);
    }

    LocalQueues localQueues() {
        return localQueues;
    }
}
