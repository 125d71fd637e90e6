// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.internal.session.WatchRegistry;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.port.Answer;
import org.jspecify.annotations.Nullable;

/**
 * Watches a node of ours: first for the request that waits with it, then for its holder. Confined to the engine thread.
 */
final class OwnNodeWatch implements WatchRegistry.DeletionSubscriber {
    private @Nullable Waiter waiter;
    private Runnable whenGone = () -> {};

    OwnNodeWatch(Waiter waiter) {
        this.waiter = waiter;
    }

    /** Forgets the request, which may be much larger than what outlives it. */
    void leave(Runnable whenNodeIsGone) {
        waiter = null;
        whenGone = whenNodeIsGone;
    }

    @Override
    public void onWatched(String nodePath) {
        // Whether it is set is asked when a grant depends on it.
    }

    @Override
    public void onGone(String nodePath) {
        if (waiter != null) {
            waiter.onVanished();
        } else {
            whenGone.run();
        }
    }

    @Override
    public void onRefused(String nodePath, Answer<?> answer) {
        if (waiter != null) {
            waiter.fail(ZooKeeperErrors.of(LockPath.parent(nodePath), "watch " + nodePath, answer));
        }
    }
}
