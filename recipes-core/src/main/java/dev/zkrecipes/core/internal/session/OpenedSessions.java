// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.internal.thread.Pauses;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens a session, and the next one as soon as it has ended. If the server refused the credentials, the next one is
 * opened on demand, and no faster than the pace of retries.
 */
public final class OpenedSessions implements SessionSource {
    private static final Logger log = LoggerFactory.getLogger(OpenedSessions.class);

    private final Supplier<Session> factory;
    private final Pauses pauses;
    private final EngineScheduler scheduler;
    private final Set<User> waiting = new LinkedHashSet<>();
    private @Nullable Session session;
    private @Nullable Timer retry;
    private int pausesSoFar; // since there was a session
    private boolean stopped;

    public OpenedSessions(Supplier<Session> factory, Pauses pauses, EngineScheduler scheduler) {
        this.factory = factory;
        this.pauses = pauses;
        this.scheduler = scheduler;
    }

    /** Opens a handle on the engine's own thread, from which ZooKeeper's threads inherit. */
    @Override
    public void start() {
        scheduler.handOver(this::open);
    }

    private void open() {
        if (stopped || session != null) {
            return;
        }
        try {
            session = factory.get();
        } catch (RuntimeException e) {
            log.warn("No ZooKeeper handle could be opened; trying again. Check the client configuration.", e);
            startLater();
            return;
        }
        List<User> served = List.copyOf(waiting);
        waiting.clear();
        served.forEach(this::request);
    }

    private void startLater() {
        if (retry == null) {
            retry = pauses.begin(pausesSoFar++, () -> {
                retry = null;
                start();
            });
        }
    }

    @Override
    public void request(User user) {
        Session current = session;
        if (current != null) {
            user.with(current);
        } else if (waiting.add(user)) {
            startLater();
        }
    }

    @Override
    public void forget(User user) {
        waiting.remove(user);
    }

    @Override
    public void onEnded(Session ended) {
        if (session != ended) {
            return;
        }
        session = null;
        if (ended.state() != State.AUTH_FAILED) {
            pausesSoFar = 0;
            start();
        }
    }

    @Override
    public void stop() {
        stopped = true;
    }
}
