// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.NodeEvent;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The watches of one session: one per node, however many attempts wait for it. A watch tells its subscribers that the
 * node is gone, and until then what each read of it showed. Everything else that may happen to a watch (the node's data
 * changes, the read is lost with the connection) is mended here by reading and watching again.
 *
 * <p>When the last subscriber leaves, the watch is dropped. Since requests of a session are answered in order, a new
 * watch on the same node, read after that, is not hit by it.
 */
public final class WatchRegistry {

    /** Somebody who waits for a node to vanish. */
    public interface Subscriber {
        /** The node was read and is there. Said for every read, and at once to who subscribes to what is watched. */
        void onRead(String path, Content content);

        /** The node is gone; the subscription has ended. */
        void onGone(String path);

        /** The node cannot be watched; the subscription has ended. */
        void onRefused(String path, Answer<?> answer);
    }

    private final Session session;
    private final Map<String, Watch> watches = new HashMap<>();

    public WatchRegistry(Session session) {
        this.session = session;
    }

    /** Tells {@code subscriber} once when the node is gone, at once if it does not exist; again if he is one already. */
    public void subscribe(String path, Subscriber subscriber) {
        Watch watch = watches.get(path);
        if (watch == null) {
            watch = new Watch(path);
            watches.put(path, watch);
            watch.read();
        }
        watch.subscribers.add(subscriber);
        Content seen = watch.seen;
        if (seen != null) {
            subscriber.onRead(path, seen);
        }
    }

    public void unsubscribe(String path, Subscriber subscriber) {
        Watch watch = watches.get(path);
        if (watch != null && watch.subscribers.remove(subscriber)) {
            watch.dropIfIdle();
        }
    }

    /**
     * The same, but if the watch is of no more use to anybody it is dropped only a while later: on a path that each new
     * waiter watches, dropping it each time would cost more than it saves.
     */
    public void unsubscribeLater(String path, Subscriber subscriber) {
        Watch watch = watches.get(path);
        if (watch != null && watch.subscribers.remove(subscriber) && !watch.dropPlanned) {
            watch.dropPlanned = true;
            session.later(watch::dropAsPlanned);
        }
    }

    /** Reads again what was lost with the connection; watches that were set, ZooKeeper's client sets again. */
    public void onConnected() {
        List.copyOf(watches.values()).forEach(Watch::readIfLost);
    }

    public boolean isEmpty() {
        return watches.isEmpty();
    }

    private final class Watch {
        private final String path;
        private final Set<Subscriber> subscribers = new LinkedHashSet<>();
        // One object for the life of the watch: ZooKeeper's client tells watches apart by identity.
        private final Consumer<NodeEvent> onEvent = this::onEvent;
        private @Nullable Content seen; // null while a read is under way
        private boolean lost;
        private boolean dropPlanned;

        Watch(String path) {
            this.path = path;
        }

        void dropAsPlanned() {
            dropPlanned = false;
            dropIfIdle();
        }

        void dropIfIdle() {
            if (subscribers.isEmpty() && watches.remove(path, this) && !session.isEnded()) {
                session.zk().dropWatch(path, onEvent);
            }
        }

        void read() {
            lost = false;
            seen = null;
            session.zk().readAndWatch(path, onEvent, this::onRead);
        }

        void readIfLost() {
            if (lost && session.isConnected() && watches.get(path) == this) {
                read();
            }
        }

        private void onRead(Answer<Content> answer) {
            switch (answer.code()) {
                case OK -> {
                    Content content = answer.value();
                    seen = content;
                    List.copyOf(subscribers).forEach(subscriber -> subscriber.onRead(path, content));
                }
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
                case CHANGED -> {
                    if (subscribers.isEmpty()) {
                        watches.remove(path, this); // it was kept for nobody, and now it is spent
                    } else {
                        read();
                    }
                }
            }
        }

        private void end(Consumer<Subscriber> telling) {
            if (watches.remove(path, this)) {
                List.copyOf(subscribers).forEach(telling);
            }
        }
    }
}
