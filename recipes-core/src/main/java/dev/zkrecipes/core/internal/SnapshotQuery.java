// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.spi.LockSnapshot;
import dev.zkrecipes.core.spi.ZooKeeperOperations.Content;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** One look at the queue of a lock and at its rule, by one request. */
final class SnapshotQuery implements SessionSource.User {
    private final LockTarget target;
    private final CompletableFuture<LockSnapshot> result = new CompletableFuture<>();

    SnapshotQuery(LockTarget target) {
        this.target = target;
    }

    /** Sends the query; the future completes on the engine thread. */
    CompletableFuture<LockSnapshot> launch() {
        target.client().scheduler().execute(() -> target.client().sessions().request(this));
        return result;
    }

    @Override
    public String lockPath() {
        return target.path();
    }

    @Override
    public void unavailable(LockException why) {
        result.completeExceptionally(why);
    }

    @Override
    public void notNow(LockException why) {
        target.client().sessions().forget(this);
        result.completeExceptionally(why);
    }

    @Override
    public void with(Session session) {
        if (!session.isConnected()) {
            result.completeExceptionally(new LockConnectionException("not connected to ZooKeeper, so the lock "
                    + target.path() + " cannot be looked at; ask again when connected"));
            return;
        }
        session.lists().ask(LockTargets.of(target).query(), look -> {
            try {
                answer(look);
            } catch (LockException e) {
                result.completeExceptionally(e);
            }
        });
    }

    private void answer(Look look) {
        switch (look.code()) {
            case OK, NONODE -> {
                LockQueue queue = look.queue(target);
                List<LockSnapshot.Place> places = queue.nodes().stream()
                        .map(node -> new LockSnapshot.Place(node, queue.holds(node)))
                        .toList();
                result.complete(new LockSnapshot(look.rule(target.path()).map(Content::data), places));
            }
            default ->
                result.completeExceptionally(
                        look.answer().isUnsettled()
                                ? new LockConnectionException("lost the connection to ZooKeeper (" + look.code()
                                        + ") while looking at the lock " + target.path() + "; ask again")
                                : Refusal.of(target.path(), "list " + target.path(), look.code()));
        }
    }
}
