// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.spi.Answer;
import dev.zkrecipes.core.spi.ZooKeeperOperations.Content;
import dev.zkrecipes.core.spi.ZooKeeperOperations.NodeEvent;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The watches of one session: one per node, however many attempts wait for it. A watch tells its subscribers one thing,
 * that the node is gone. Everything else that may happen to a watch (the node's data changes, the read is lost with the
 * connection) is mended here by reading and watching again.
 *
 * <p>When the last subscriber leaves, the watch is dropped. Since requests of a session are answered in order, a new
 * watch on the same node, read after that, is not hit by it.
 */
final class WatchRegistry {

    /** Somebody who waits for a node to vanish. */
    interface Subscriber {
        /** The node is gone; the subscription has ended. */
        void onGone(String path);

        /** The node cannot be watched; the subscription has ended. */
        void onRefused(String path, Answer<?> answer);
    }

    private final Session session;
    private final Map<String, Watch> watches = new HashMap<>();

    WatchRegistry(Session session) {
        this.session = session;
    }

    /** Tells {@code subscriber} once when the node is gone, at once if it does not exist. */
    void subscribe(String path, Subscriber subscriber) {
        Watch watch = watches.get(path);
        if (watch == null) {
            watch = new Watch(path);
            watches.put(path, watch);
            watch.read();
        }
        watch.subscribers.add(subscriber);
    }

    void unsubscribe(String path, Subscriber subscriber) {
        Watch watch = watches.get(path);
        if (watch != null && watch.subscribers.remove(subscriber) && watch.subscribers.isEmpty()) {
            watches.remove(path);
            if (!session.isEnded()) {
                session.zk().dropWatch(path, watch.onEvent);
            }
        }
    }

    /** Reads again what was lost with the connection; watches that were set, ZooKeeper's client sets again. */
    void onConnected() {
        List.copyOf(watches.values()).forEach(Watch::readIfLost);
    }

    boolean isEmpty() {
        return watches.isEmpty();
    }

    private final class Watch {
        private final String path;
        private final Set<Subscriber> subscribers = new LinkedHashSet<>();
        // One object for the life of the watch: ZooKeeper's client tells watches apart by identity.
        private final Consumer<NodeEvent> onEvent = this::onEvent;
        private boolean lost;

        Watch(String path) {
            this.path = path;
        }

        void read() {
            lost = false;
            session.zk().readAndWatch(path, onEvent, this::onRead);
        }

        void readIfLost() {
            if (lost && session.isConnected() && watches.get(path) == this) {
                read();
            }
        }

        private void onRead(Answer<Content> answer) {
            switch (answer.code()) {
                case OK -> {}
                case NONODE -> end(subscriber -> subscriber.onGone(path));
                default -> {
                    if (answer.isUnsettled()) {
                        lost = true;
                        // The next connection reads again; this is for a server that refused and kept the connection.
                        session.later(this::readIfLost);
                    } else {
                        end(subscriber -> subscriber.onRefused(path, answer));
                    }
                }
            }
        }

        private void onEvent(NodeEvent event) {
            if (watches.get(path) != this) {
                return;
            }
            switch (event) {
                case DELETED -> end(subscriber -> subscriber.onGone(path));
                case CHANGED -> read();
            }
        }

        private void end(Consumer<Subscriber> telling) {
            if (watches.remove(path, this)) {
                List.copyOf(subscribers).forEach(telling);
            }
        }
    }
}
