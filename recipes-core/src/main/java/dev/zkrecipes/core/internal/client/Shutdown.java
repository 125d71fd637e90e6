// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.client;

import dev.zkrecipes.core.internal.acquire.Requests;
import dev.zkrecipes.core.internal.node.LockLog;
import dev.zkrecipes.core.internal.node.NodeCleaner;
import dev.zkrecipes.core.internal.revoke.Revocations;
import dev.zkrecipes.core.internal.session.KeepAlive;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How a client ends. First every lease and request ends, which hands their nodes to the cleaner. Then it waits, for a
 * limited time, for the deletion of nodes that outlive the sessions or are too many for one transaction. Then the
 * handles are closed. Then every future that is left completes, and the threads end. Confined to the engine thread.
 */
final class Shutdown {
    private static final Logger log = LoggerFactory.getLogger(Shutdown.class);

    private final Requests requests;
    private final Revocations revocations;
    private final Duration limit;
    private final ClientSessions sessions;
    private final NodeCleaner cleaner;
    private final EngineScheduler scheduler;
    private final Runnable onEnd;
    private @Nullable OutOfMemoryError starved; // in the middle of something that has to be done again

    /** Deletions may take as long as {@code limit}. */
    Shutdown(
            Requests requests,
            Revocations revocations,
            ClientSessions sessions,
            NodeCleaner cleaner,
            EngineScheduler scheduler,
            Duration limit,
            Runnable onEnd) {
        this.requests = requests;
        this.revocations = revocations;
        this.limit = limit;
        this.sessions = sessions;
        this.cleaner = cleaner;
        this.scheduler = scheduler;
        this.onEnd = onEnd;
    }

    void begin() {
        List<KeepAlive.Grant> held = endAll(LockLog.CLIENT_CLOSED);
        if (starved != null) {
            throw starved; // which ends it at once, when there is memory
        }
        // Behind the tasks that hand these nodes to the cleaner.
        scheduler.execute(() -> awaitDeletions(held));
    }

    /**
     * Ends everything in the middle of anything: nobody may believe to hold a lock, and nobody may wait. The nodes go
     * with the sessions. If a handle cannot be closed, or there was no memory for something, it throws, after all else.
     */
    void atOnce(String reason) {
        List<KeepAlive.Grant> held = endAll(reason);
        each(held, KeepAlive.Grant::abandon);
        each(List.of(cleaner), NodeCleaner::abandonAll);
        sessions.source().stop();
        List<Session> open = sessions.living(); // until the next line is done for all, so that it can be tried again
        open.forEach(session -> scheduler.executeBlocking(session.zk()::close));
        each(open, session -> session.become(State.CLOSED));
        if (starved != null) {
            throw starved;
        }
        onEnd.run();
    }

    private List<KeepAlive.Grant> endAll(String reason) {
        List<KeepAlive.Grant> held = sessions.living().stream()
                .flatMap(session -> session.keepAlive().all().stream())
                .toList();
        each(held, each -> each.endAtOnce(reason));
        each(List.copyOf(requests.open()), request -> request.fail(requests.closedFor(request.lockPath())));
        each(List.copyOf(revocations.open()), request -> request.fail(requests.closedFor(request.lockPath())));
        return held;
    }

    /** What is broken for one of them must not keep the others. */
    private <T> void each(List<T> all, Consumer<T> action) {
        for (T one : all) {
            try {
                action.accept(one);
            } catch (Throwable t) {
                starved = t instanceof OutOfMemoryError e ? e : starved;
                log.warn("The end of the lock client met an error.", t);
            }
        }
    }

    private void awaitDeletions(List<KeepAlive.Grant> held) {
        List<Session> alive = sessions.living();
        boolean closingDeletes = sessions.source().ownsSessions()
                && !cleaner.hasNodesBeside(alive)
                && alive.stream().allMatch(session -> session.nodes().isSmall());
        CompletableFuture<Void> cleaned = closingDeletes ? CompletableFuture.completedFuture(null) : cleaner.idle();
        EngineScheduler.Timer timer = scheduler.schedule(limit, () -> cleaned.complete(null));
        Completion.on(cleaned, (done, failure) -> {
            timer.cancel();
            closeHandles(held);
        });
    }

    private void closeHandles(List<KeepAlive.Grant> held) {
        sessions.source().stop();
        List<Session> open = sessions.living();
        scheduler.executeBlocking(() -> {
            each(open, session -> session.zk().close());
            scheduler.execute(() -> {
                open.forEach(session -> session.become(State.CLOSED));
                cleaner.abandonAll();
                held.forEach(KeepAlive.Grant::abandon);
                onEnd.run();
            });
        });
    }
}
