// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.revoke;

import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.node.Held;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.thread.Callbacks;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The listeners for requests to give one hold back, and what each was told. The first listener makes the hold's nodes
 * watched. A request that marks all nodes of a hold is reported once. Any thread; all of it happens on the engine
 * thread.
 */
public final class RevocationListeners {
    /** How many requests that are over a listener still knows: one that lost its answer may be written once more. */
    private static final int REMEMBERED = 1_000;

    private final List<HeldNode> nodes;
    private final BooleanSupplier isStanding;
    private final Callbacks callbacks;
    private final List<RevocationWatch> watches = new ArrayList<>();
    private final List<Listener> listeners = new ArrayList<>();
    private final Map<HeldNode, List<RevocationRequest>> seen = new HashMap<>();

    /** Any thread may ask whether the hold, which stands on these nodes, is open and not lost. */
    public RevocationListeners(List<HeldNode> nodes, BooleanSupplier isStanding, Callbacks callbacks) {
        this.nodes = nodes;
        this.isStanding = isStanding;
        this.callbacks = callbacks;
    }

    /** Tells the listener of all known requests, and of new ones as long as the hold stands. */
    public void add(Consumer<RevocationRequest> receiver) {
        nodes.get(0).scheduler().execute(() -> addNow(receiver));
    }

    private void addNow(Consumer<RevocationRequest> receiver) {
        if (!isStanding.getAsBoolean()) {
            return;
        }
        Held.Observer observer = nodes.get(0).observer();
        if (listeners.isEmpty() && observer != null) {
            listeners.add(new Listener(request -> observer.onRevocationRequested()));
        }
        Listener added = new Listener(receiver);
        listeners.add(added);
        added.tell(known());
        if (watches.isEmpty()) {
            nodes.forEach(node -> watches.add(new RevocationWatch(node, requests -> onRead(node, requests))));
            List.copyOf(watches).forEach(RevocationWatch::begin);
        }
    }

    private void onRead(HeldNode grant, List<RevocationRequest> requests) {
        seen.put(grant, requests);
        List<RevocationRequest> known = known();
        listeners.forEach(listener -> listener.tell(known));
    }

    public void end() {
        nodes.get(0).scheduler().execute(this::endNow);
    }

    private void endNow() {
        watches.forEach(RevocationWatch::end);
        watches.clear();
        listeners.clear();
        seen.clear();
    }

    private List<RevocationRequest> known() {
        return seen.values().stream().flatMap(List::stream).toList();
    }

    private final class Listener {
        private final Consumer<RevocationRequest> receiver;
        private final Set<String> told = new LinkedHashSet<>(); // ids; those that were read last are at the end

        Listener(Consumer<RevocationRequest> receiver) {
            this.receiver = receiver;
        }

        void tell(List<RevocationRequest> known) {
            for (RevocationRequest request : known) {
                boolean isNew = !told.remove(request.id());
                told.add(request.id());
                if (isNew) {
                    callbacks.run(() -> pass(request));
                }
            }
            Iterator<String> oldest = told.iterator();
            while (told.size() > known.size() + REMEMBERED) {
                oldest.next();
                oldest.remove();
            }
        }

        private void pass(RevocationRequest request) {
            if (isStanding.getAsBoolean()) {
                receiver.accept(request);
            }
        }
    }
}
