// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.client;

import dev.zkrecipes.core.internal.acquire.Requests;
import dev.zkrecipes.core.internal.node.NodeCleaner;
import dev.zkrecipes.core.internal.session.KeepAlive;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.session.SessionSource;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.internal.thread.Guarded;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * How a client ends. First every attempt and lease ends; then nodes are deleted that no closing session takes along, or
 * that are too many to be deleted by one transaction, for at most half the request time-out; then the handles are closed; then every future that is left completes, and the
 * threads end. Confined to the engine thread.
 */
public final class Shutdown {
    private final EngineClient client;
    private final SessionSource sessions;
    private final NodeCleaner cleaner;
    private final EngineScheduler scheduler;
    private final Runnable onEnd;

    public Shutdown(EngineClient client, Runnable onEnd) {
        this.client = client;
        this.sessions = client.sessions();
        this.cleaner = client.cleaner();
        this.scheduler = client.scheduler();
        this.onEnd = onEnd;
    }

    public void begin() {
        List.copyOf(client.requests().open())
                .forEach(attempt -> Guarded.run(() -> attempt.fail(Requests.closedFor(attempt.lockPath()))));
        client.pursuits().forEach(pursuit -> Guarded.run(() -> pursuit.fail(Requests.closedFor(pursuit.lockPath()))));
        List<KeepAlive.Held> grants = client.livingSessions().stream()
                .flatMap(session -> session.leases().all().stream())
                .toList();
        grants.forEach(grant -> Guarded.run(() -> grant.lose("the client was closed")));
        // Behind the tasks that hand the nodes of those grants to the cleaner.
        scheduler.execute(() -> awaitDeletions(grants));
    }

    private void awaitDeletions(List<KeepAlive.Held> grants) {
        List<Session> living = client.livingSessions();
        boolean closingDeletes = sessions.ownsSessions()
                && !cleaner.hasNodesBeside(living)
                && living.stream().allMatch(session -> session.nodes().isSmall());
        CompletableFuture<Void> cleaned = closingDeletes ? CompletableFuture.completedFuture(null) : cleaner.idle();
        EngineScheduler.Timer limit =
                scheduler.schedule(client.requestTimeout().dividedBy(2), () -> cleaned.complete(null));
        Completion.on(cleaned, (done, failure) -> {
            limit.cancel();
            closeHandles(grants);
        });
    }

    private void closeHandles(List<KeepAlive.Held> grants) {
        sessions.stop();
        List<Session> open = client.livingSessions();
        scheduler.executeBlocking(() -> {
            open.forEach(session -> Guarded.run(session.zk()::close));
            scheduler.execute(() -> {
                open.forEach(session -> session.become(State.CLOSED));
                cleaner.abandonAll();
                grants.forEach(KeepAlive.Held::abandon);
                onEnd.run();
            });
        });
    }
}
