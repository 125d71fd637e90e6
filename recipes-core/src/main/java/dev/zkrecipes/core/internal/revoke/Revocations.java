// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.revoke;

import dev.zkrecipes.core.internal.session.SessionSource;
import dev.zkrecipes.core.internal.session.SessionTask;
import dev.zkrecipes.core.internal.thread.Backoff;
import dev.zkrecipes.core.internal.thread.Callbacks;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The requests of one client to other holders that are under way, and what they share. Thread-safe. */
public final class Revocations {
    private final EngineScheduler scheduler;
    private final SessionSource sessions;
    private final Supplier<Backoff> pace;
    private final Callbacks callbacks;
    private final Consumer<String> requireOpenFor;
    private final Set<SessionTask<?>> open = ConcurrentHashMap.newKeySet();

    /**
     * Begins without requests.
     *
     * @param pace makes the pauses of one request
     * @param requireOpenFor throws if the client is closed; is given the path of the lock
     */
    public Revocations(
            EngineScheduler scheduler,
            SessionSource sessions,
            Supplier<Backoff> pace,
            Callbacks callbacks,
            Consumer<String> requireOpenFor) {
        this.scheduler = scheduler;
        this.sessions = sessions;
        this.pace = pace;
        this.callbacks = callbacks;
        this.requireOpenFor = requireOpenFor;
    }

    EngineScheduler scheduler() {
        return scheduler;
    }

    SessionSource sessions() {
        return sessions;
    }

    Backoff newPace() {
        return pace.get();
    }

    Callbacks callbacks() {
        return callbacks;
    }

    void requireOpenFor(String lockPath) {
        requireOpenFor.accept(lockPath);
    }

    void enter(SessionTask<?> request) {
        open.add(request);
    }

    void exit(SessionTask<?> request) {
        open.remove(request);
    }

    /** Those that are under way. */
    public List<SessionTask<?>> open() {
        return List.copyOf(open);
    }
}
