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
 * The listeners of one hold for requests to release its lock. Such a request is a line in the data of the held node, so
 * adding the first listener starts watching the nodes of the hold; nothing is read before that. A request that marks
 * all nodes of the hold is reported once, because it has the same id in all of them.
 *
 * <p>Methods may be called from any thread. The work is done on the engine thread, and listeners run on callback
 * threads.
 */
public final class RevocationListeners {
    private static final Logger log = LoggerFactory.getLogger(RevocationListeners.class);

    /**
     * How many requests that the nodes no longer show are remembered. A client that gets no answer to its write may
     * write its request a second time, which must not be reported again.
     */
    private static final int REMEMBERED = 1_000;

    private final Grant grant;
    private final HeldNode any; // the first node, whose engine and observer serve for all
    private final BooleanSupplier isStanding;
    private final Callbacks callbacks;
    private final List<Watch> watches = new ArrayList<>(); // one for each node, once there is a listener
    private final List<Consumer<RevocationRequest>> listeners = new ArrayList<>();
    private final Map<HeldNode, List<RevocationRequest>> seen = new HashMap<>(); // as of the last read of each node
    private final Map<String, RevocationRequest> told = new LinkedHashMap<>(); // by id; the latest read at the end

    /** {@code isStanding} says, on any thread, whether the hold on this grant is open and not lost. */
    public RevocationListeners(Grant grant, BooleanSupplier isStanding, Callbacks callbacks) {
        this.grant = grant;
        this.any = grant.nodes().findFirst().orElseThrow();
        this.isStanding = isStanding;
        this.callbacks = callbacks;
    }

    /** Passes all known requests to the listener, and new requests as long as the hold is open and not lost. */
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
        told.values().forEach(request -> pass(request, receiver)); // even those that others have overwritten since
        if (watches.isEmpty()) {
            grant.nodes().forEach(node -> watches.add(new Watch(node)));
            List.copyOf(watches).forEach(Watch::begin);
        }
    }

    /** Called when a node was read. Reports the requests that no node of the hold has shown before. */
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

    /** Runs a listener, unless the hold has ended by the time a callback thread runs it. */
    private void pass(RevocationRequest request, Consumer<RevocationRequest> receiver) {
        callbacks.run(() -> {
            if (isStanding.getAsBoolean()) {
                receiver.accept(request);
            }
        });
    }

    /** Returns the requests that the nodes showed when they were last read, by id. */
    private Map<String, RevocationRequest> known() {
        Map<String, RevocationRequest> known = new LinkedHashMap<>();
        seen.values().forEach(marks -> marks.forEach(mark -> known.put(mark.id(), mark)));
        return known;
    }

    /** Called when the hold was closed or lost. */
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
     * Watches one node of the hold. The first read shows the requests that were written before; each later read shows
     * those written since, even if the connection was lost meanwhile. When the node is released, the watch stays
     * until the node is gone: that ends the watch without a further request to the server.
     */
    private final class Watch implements WatchRegistry.Subscriber {
        private final HeldNode held;
        private boolean subscribed;

        Watch(HeldNode held) {
            this.held = held;
        }

        /** Begins to watch the node, unless it has ended: requests for such a node concern nobody any more. */
        void begin() {
            if (!held.hasEnded()) {
                subscribed = true;
                held.session().watches().subscribe(held.nodePath(), this);
            }
        }

        /** Ends the watch. If the node has ended, the watch stays until the node is gone. */
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
