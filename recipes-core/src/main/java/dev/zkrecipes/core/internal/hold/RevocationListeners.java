// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.reads.WatchRegistry;
import dev.zkrecipes.core.internal.thread.Callbacks;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.internal.wire.RevocationMarks;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The listeners for requests to give one hold back. The first makes the hold's nodes watched. A request that marks all
 * nodes of a hold is reported once. Any thread; all of it happens on the engine thread.
 */
public final class RevocationListeners {
    private static final Logger log = LoggerFactory.getLogger(RevocationListeners.class);

    /** How many requests that are over are still known: one that lost its answer may be written once more. */
    private static final int REMEMBERED = 1_000;

    private final Grant grant;
    private final HeldNode any;
    private final BooleanSupplier isStanding;
    private final Callbacks callbacks;
    private final List<Watch> watches = new ArrayList<>();
    private final List<Consumer<RevocationRequest>> listeners = new ArrayList<>();
    private final Map<HeldNode, List<RevocationRequest>> seen = new HashMap<>();
    private final Map<String, RevocationRequest> told = new LinkedHashMap<>(); // by id; those read last at the end

    /** Any thread may ask whether the hold, which stands on this grant, is open and not lost. */
    public RevocationListeners(Grant grant, BooleanSupplier isStanding, Callbacks callbacks) {
        this.grant = grant;
        this.any = grant.nodes().findFirst().orElseThrow();
        this.isStanding = isStanding;
        this.callbacks = callbacks;
    }

    /** Tells the listener of all known requests, and of new ones as long as the hold stands. */
    public void add(Consumer<RevocationRequest> receiver) {
        any.scheduler().execute(() -> addNow(receiver));
    }

    private void addNow(Consumer<RevocationRequest> receiver) {
        if (!isStanding.getAsBoolean()) {
            return;
        }
        Held.Observer observer = any.observer();
        if (listeners.isEmpty() && observer != null) {
            listeners.add(request -> observer.onRevocationRequested());
        }
        listeners.add(receiver);
        told.values().forEach(request -> pass(request, receiver)); // also if it was overwritten since
        if (watches.isEmpty()) {
            grant.nodes().forEach(node -> watches.add(new Watch(node)));
            List.copyOf(watches).forEach(Watch::begin);
        }
    }

    private void onRead(HeldNode grant, List<RevocationRequest> requests) {
        seen.put(grant, requests);
        Map<String, RevocationRequest> known = known();
        known.forEach((id, request) -> {
            boolean isNew = told.remove(id) == null;
            told.put(id, request);
            if (isNew) {
                listeners.forEach(listener -> pass(request, listener));
            }
        });
        Iterator<String> oldest = told.keySet().iterator();
        while (told.size() > known.size() + REMEMBERED) {
            oldest.next();
            oldest.remove();
        }
    }

    private void pass(RevocationRequest request, Consumer<RevocationRequest> receiver) {
        callbacks.run(() -> {
            if (isStanding.getAsBoolean()) {
                receiver.accept(request);
            }
        });
    }

    private Map<String, RevocationRequest> known() {
        Map<String, RevocationRequest> known = new LinkedHashMap<>();
        seen.values().forEach(marks -> marks.forEach(mark -> known.put(mark.id(), mark)));
        return known;
    }

    public void end() {
        any.scheduler().execute(this::endNow);
    }

    private void endNow() {
        watches.forEach(Watch::end);
        watches.clear();
        listeners.clear();
        seen.clear();
        told.clear();
    }

    /**
     * Watches a node of the hold. The first read shows what was asked before, each later one what was asked since, even
     * while the connection was lost. When the node is released the watch stays until it is gone, which ends it without
     * another request.
     */
    private final class Watch implements WatchRegistry.Subscriber {
        private final HeldNode held;
        private boolean subscribed;

        Watch(HeldNode held) {
            this.held = held;
        }

        void begin() {
            if (!held.hasEnded()) {
                subscribed = true;
                held.session().watches().subscribe(held.nodePath(), this);
            }
        }

        void end() {
            if (held.hasEnded()) {
                Completion.on(held.gone(), (nothing, failure) -> unsubscribe());
            } else {
                unsubscribe();
            }
        }

        private void unsubscribe() {
            if (subscribed) {
                subscribed = false;
                held.session().watches().unsubscribe(held.nodePath(), this);
            }
        }

        @Override
        public void onRead(String path, Content content) {
            if (!held.hasEnded()) {
                RevocationListeners.this.onRead(held, RevocationMarks.in(content));
            }
        }

        @Override
        public void onGone(String path) {
            subscribed = false;
            held.onNodeGone();
        }

        @Override
        public void onRefused(String path, Answer<?> answer) {
            subscribed = false;
            log.warn(
                    "ZooKeeper refuses to show the lock node {} to its holder ({}), so requests to give the lock back are not"
                            + " seen. Give the client READ rights on its nodes.",
                    path,
                    answer.code());
        }
    }
}
