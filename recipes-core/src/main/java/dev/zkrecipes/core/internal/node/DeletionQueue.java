// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.node;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.session.SessionSource;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where deletions wait to be sent: at most {@value #WINDOW} are under way at a time, each in the session of its node
 * while that lives, then in the client's next one, and none without a connection. A node that has to be looked for
 * takes no place before it is found, so that one list serves all that wait for a connection. Confined to the engine
 * thread.
 */
final class DeletionQueue implements SessionSource.User {
    private static final int WINDOW = 100;

    /** A deletion, as the queue sees it. */
    interface Entry {
        /** The node to delete. */
        OwnNode node();

        /** Queues, or is sent at once. */
        void begin();

        /** It is its turn. */
        void send();
    }

    private final SessionSource sessions;
    private final Runnable onNoSession;
    private final Set<Entry> ready = new LinkedHashSet<>();
    private final Set<Entry> resting = new HashSet<>(); // until a timer of their own
    private final Set<Entry> withoutConnection = new LinkedHashSet<>();
    private final Set<Entry> underWay = new HashSet<>();
    private @Nullable Session successor; // of sessions that have ended
    private boolean seeking;

    /**
     * Makes an empty queue.
     *
     * @param onNoSession run when a session has ended and there will be no other one
     */
    DeletionQueue(SessionSource sessions, Runnable onNoSession) {
        this.sessions = sessions;
        this.onNoSession = onNoSession;
    }

    void add(Entry deletion) {
        ready.add(deletion);
    }

    void rests(Entry deletion) {
        resting.add(deletion);
    }

    /** Whether it could be sent now. What has no connection is sent as soon as there is one. */
    boolean isPutOff(Entry deletion) {
        return ready.contains(deletion) || resting.contains(deletion);
    }

    boolean hasPutOff() {
        return !ready.isEmpty() || !resting.isEmpty();
    }

    void remove(Entry deletion) {
        ready.remove(deletion);
        resting.remove(deletion);
        withoutConnection.remove(deletion);
    }

    void isUnderWay(Entry deletion) {
        underWay.add(deletion);
    }

    /** Whether nothing waits and there is room. */
    boolean isIdle() {
        return ready.isEmpty() && underWay.size() < WINDOW;
    }

    void isAnswered(Entry deletion) {
        underWay.remove(deletion);
    }

    /** Sends as many as there is room for. */
    void pump() {
        while (underWay.size() < WINDOW && !ready.isEmpty()) {
            ready.iterator().next().send();
        }
    }

    /** There may be a connection now. */
    void wake() {
        List<Entry> waited = List.copyOf(withoutConnection);
        withoutConnection.clear();
        waited.forEach(Entry::begin);
        pump();
    }

    /** A connected session to send it in; null if it has to wait for one, which it does here. */
    @Nullable
    Session sessionFor(Entry deletion) {
        Session own = deletion.node().session();
        Session found = own.isEnded() ? successor() : own;
        if (found == null || !found.isConnected()) {
            withoutConnection.add(deletion);
            return null;
        }
        return found;
    }

    private @Nullable Session successor() {
        if ((successor == null || !successor.isConnected()) && !seeking) {
            seeking = true;
            sessions.request(this); // which may answer at once
        }
        return successor;
    }

    @Override
    public void with(Session found) {
        seeking = false;
        successor = found;
        if (found.isConnected()) {
            wake();
        }
    }

    @Override
    public String lockPath() {
        return withoutConnection.stream()
                .map(deletion -> deletion.node().lockPath())
                .findFirst()
                .orElse("/");
    }

    @Override
    public void unavailable(LockException why) {
        seeking = false;
        onNoSession.run();
        pump();
    }
}
