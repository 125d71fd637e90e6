// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.thread.Callbacks;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * The requests to release a foreign hold, and the listeners of all holds that it backs. The foreign lock knows only one
 * listener, because it keeps what it is given until it is released. Thread-safe.
 */
final class ForeignRevocations {
    /** How many requests are remembered for listeners that come later. */
    private static final int REMEMBERED = 1_000;

    private final Callbacks callbacks;
    private final ReentrantLock guard = new ReentrantLock();
    private final Set<Consumer<RevocationRequest>> listeners = new LinkedHashSet<>(); // guarded by guard
    private final Map<String, RevocationRequest> told = new LinkedHashMap<>(); // by id; guarded by guard

    ForeignRevocations(Callbacks callbacks) {
        this.callbacks = callbacks;
    }

    /** Adds a listener, which is told of all requests, also of earlier ones. */
    void add(Consumer<RevocationRequest> listener) {
        List<RevocationRequest> earlier;
        guard.lock();
        try {
            listeners.add(listener);
            earlier = List.copyOf(told.values());
        } finally {
            guard.unlock();
        }
        earlier.forEach(request -> callbacks.run(() -> listener.accept(request)));
    }

    void remove(Consumer<RevocationRequest> listener) {
        guard.lock();
        try {
            listeners.remove(listener);
        } finally {
            guard.unlock();
        }
    }

    /**
     * Called by the foreign lock, on any thread, when there is a request. A single listener runs on that thread;
     * several run as callbacks, so that none of them delays the others.
     */
    void tell(RevocationRequest request) {
        List<Consumer<RevocationRequest>> all;
        guard.lock();
        try {
            told.put(request.id(), request);
            if (told.size() > REMEMBERED) {
                told.remove(told.keySet().iterator().next()); // the oldest
            }
            all = List.copyOf(listeners);
        } finally {
            guard.unlock();
        }
        if (all.size() == 1) {
            all.get(0).accept(request);
        } else {
            all.forEach(listener -> callbacks.run(() -> listener.accept(request)));
        }
    }
}
