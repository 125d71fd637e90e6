// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.internal.thread.Guarded;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.NodeEvent;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The watches of one session. There are two kinds, which do not disturb each other on the same node: one reports each
 * read of the node, and that it is gone; the other reports only that it is gone. A node has one watch of each kind,
 * however many subscribe.
 */
public final class WatchRegistry {

    /** Waits for the end of a node. */
    public interface EndSubscriber {
        /** The node is gone; the subscription has ended. */
        void onGone(String path);

        /** The node cannot be watched; the subscription has ended. */
        void onRefused(String path, Answer<?> answer);
    }

    /** Hears of the node's data and of its end. */
    public interface Subscriber extends EndSubscriber {
        /**
         * The node was read and is there. Called after each read, and immediately for a subscriber joining an existing
         * watch.
         */
        void onRead(String path, Content content);
    }

    /** Hears only of the deletion. */
    public interface DeletionSubscriber extends EndSubscriber {
        /**
         * The server watches the node: from now on its deletion is reported. Called each time the watch is set, and
         * immediately for a subscriber joining an existing watch.
         */
        void onWatched(String path);
    }

    /** Asks the server for a watch. */
    @FunctionalInterface
    private interface Request<T> {
        void send(String path, Consumer<NodeEvent> watch, Consumer<Answer<T>> reply);
    }

    /** Tells a subscriber that the watch is set. */
    @FunctionalInterface
    private interface Greeting<T, S> {
        void tell(S subscriber, String path, T answer);
    }

    private final ZooKeeperOperations zk;
    private final Supplier<State> state;
    private final Consumer<Runnable> later;
    private final NodeWatches<Content, Subscriber> content;
    private final NodeWatches<String, DeletionSubscriber> deletions;

    /**
     * Begins without watches.
     *
     * @param state of the session
     * @param later runs a task after the longest retry delay
     */
    WatchRegistry(ZooKeeperOperations zk, Supplier<State> state, Consumer<Runnable> later) {
        this.zk = zk;
        this.state = state;
        this.later = later;
        this.content = new NodeWatches<>(zk::readAndWatch, (subscriber, path, read) -> subscriber.onRead(path, read));
        this.deletions = new NodeWatches<>(zk::watchDeletion, (subscriber, path, same) -> subscriber.onWatched(path));
    }

    /**
     * Tells {@code subscriber} what the node holds each time it is read, and once when it is gone. If it is subscribed
     * already, it is only told again what was read last.
     */
    public void subscribe(String path, Subscriber subscriber) {
        content.subscribe(path, subscriber);
    }

    public void unsubscribe(String path, Subscriber subscriber) {
        content.unsubscribe(path, subscriber);
    }

    /**
     * The same, but a watch without subscribers is dropped only a while later: on a path that each new waiter watches,
     * dropping it each time would cost more than it saves.
     */
    public void unsubscribeLater(String path, Subscriber subscriber) {
        content.unsubscribeLater(path, subscriber);
    }

    /** Tells {@code subscriber} each time the watch is set, and once when the node is gone or was never there. */
    public void subscribeToDeletion(String path, DeletionSubscriber subscriber) {
        deletions.subscribe(path, subscriber);
    }

    public void unsubscribeFromDeletion(String path, DeletionSubscriber subscriber) {
        deletions.unsubscribe(path, subscriber);
    }

    /** Whether the server watches the node for subscribers to its deletion. */
    public boolean tellsDeletionOf(String path) {
        return deletions.isSet(path);
    }

    /** Whether the server watches the node for subscribers to its data, and it is not being read again. */
    public boolean tellsContentOf(String path) {
        return content.isSet(path);
    }

    /** The server has said that the node is gone. The event of that came before, unless the server told nobody. */
    public void onKnownGone(String path) {
        deletions.onKnownGone(path);
    }

    /**
     * The node was read without its watch: if that shows a change of which no event came, it is read and watched again.
     */
    public void onSeen(String path, Stat stat) {
        content.setAgainIf(
                path,
                known -> known.stat().getVersion() != stat.getVersion()
                        || known.stat().getCzxid() != stat.getCzxid());
    }

    /** Sets again what was lost with the connection. */
    public void onConnected() {
        content.onConnected();
        deletions.onConnected();
    }

    public boolean isEmpty() {
        return content.isEmpty() && deletions.isEmpty();
    }

    /**
     * The watches of one kind: one for each node, however many subscribe. A watch is set again here if an
     * event spent it and the node is still there, or if the connection was lost before it was set.
     *
     * <p>When the last subscriber leaves, the watch is dropped. A new watch that is set on the same node later is safe
     * from that, since requests of a session are answered in order.
     *
     * @param <T> what the server answers when it has set a watch
     * @param <S> the subscribers
     */
    private final class NodeWatches<T, S extends EndSubscriber> {

        private final Request<T> request;
        private final Greeting<T, S> greeting;
        private final Map<String, Watch> watches = new HashMap<>();

        NodeWatches(Request<T> request, Greeting<T, S> greeting) {
            this.request = request;
            this.greeting = greeting;
        }

        void subscribe(String path, S subscriber) {
            Watch watch = watches.get(path);
            if (watch == null) {
                watch = new Watch(path);
                watches.put(path, watch);
                watch.set();
            }
            watch.subscribers.add(subscriber);
            T seen = watch.seen;
            if (seen != null) {
                greeting.tell(subscriber, path, seen);
            }
        }

        void unsubscribe(String path, S subscriber) {
            Watch watch = watches.get(path);
            if (watch != null && watch.subscribers.remove(subscriber)) {
                watch.dropIfIdle();
            }
        }

        void unsubscribeLater(String path, S subscriber) {
            Watch watch = watches.get(path);
            if (watch != null && watch.subscribers.remove(subscriber) && !watch.dropPlanned) {
                watch.dropPlanned = true;
                later.accept(watch::dropAsPlanned);
            }
        }

        /**
         * Sets the watches again that were lost with the connection; ZooKeeper's client does the same for those that
         * were set.
         */
        void onConnected() {
            List.copyOf(watches.values()).forEach(Watch::setIfLost);
        }

        /** Sets a watch again that was confirmed and has told no event since, if what it saw then is out of date. */
        void setAgainIf(String path, Predicate<T> isOutOfDate) {
            Watch watch = watches.get(path);
            if (watch != null && watch.seen != null && isOutOfDate.test(watch.seen)) {
                watch.set();
            }
        }

        /** The node is gone, and no event told it. */
        void onKnownGone(String path) {
            Watch watch = watches.get(path);
            if (watch != null && !state.get().isFinal()) {
                zk.dropWatch(path, watch.onEvent);
                watch.end(subscriber -> subscriber.onGone(path));
            }
        }

        /** Whether the server has confirmed the watch and reported no event since. */
        boolean isSet(String path) {
            Watch watch = watches.get(path);
            return watch != null && watch.seen != null;
        }

        boolean isEmpty() {
            return watches.isEmpty();
        }

        private final class Watch {
            private final String path;
            private final Set<S> subscribers = new LinkedHashSet<>();
            // One object for the life of the watch: ZooKeeper's client tells watches apart by identity.
            private final Consumer<NodeEvent> onEvent = this::onEvent;
            private @Nullable T seen; // null while the server is being asked
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
                if (subscribers.isEmpty()
                        && watches.remove(path, this)
                        && !state.get().isFinal()) {
                    zk.dropWatch(path, onEvent);
                }
            }

            void set() {
                lost = false;
                seen = null;
                request.send(path, onEvent, this::onAnswer);
            }

            void setIfLost() {
                if (lost && state.get() == State.CONNECTED && watches.get(path) == this) {
                    set();
                }
            }

            private void onAnswer(Answer<T> answer) {
                switch (answer.code()) {
                    case OK -> {
                        T value = answer.value();
                        seen = value;
                        List.copyOf(subscribers).forEach(subscriber -> greeting.tell(subscriber, path, value));
                    }
                    case NONODE -> end(subscriber -> subscriber.onGone(path));
                    default -> {
                        if (answer.isUnsettled()) {
                            lost = true;
                            // The next connection sets it again; this is for a server that refused and kept the
                            // connection.
                            later.accept(this::setIfLost);
                        } else {
                            end(subscriber -> subscriber.onRefused(path, answer));
                        }
                    }
                }
            }

            private void onEvent(NodeEvent event) {
                switch (event) {
                    case DELETED -> end(subscriber -> subscriber.onGone(path));
                    case CHANGED -> {
                        if (subscribers.isEmpty()) {
                            watches.remove(path, this); // it had no subscribers or was dropped, and now it is spent
                        } else {
                            set();
                        }
                    }
                }
            }

            private void end(Consumer<S> telling) {
                if (watches.remove(path, this)) {
                    // Nobody can subscribe or leave any more, and all are told, even if one of them throws.
                    subscribers.forEach(subscriber -> Guarded.run(() -> telling.accept(subscriber)));
                }
            }
        }
    }
}
