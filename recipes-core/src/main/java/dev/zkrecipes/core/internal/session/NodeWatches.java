// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.internal.thread.Guarded;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.NodeEvent;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The watches of one kind in one session: one for each node, however many subscribe. A watch is set again here if an
 * event spent it and the node is still there, or if the connection was lost before it was set.
 *
 * <p>When the last subscriber leaves, the watch is dropped. A new watch that is set on the same node later is safe from
 * that, since requests of a session are answered in order.
 *
 * @param <T> what the server answers when it has set a watch
 * @param <S> the subscribers
 */
final class NodeWatches<T, S extends WatchSubscriber> {

    /** Asks the server for a watch. */
    @FunctionalInterface
    interface Request<T> {
        void send(String path, Consumer<NodeEvent> watch, Consumer<Answer<T>> reply);
    }

    /** Tells a subscriber that the watch is set. */
    @FunctionalInterface
    interface Greeting<T, S> {
        void tell(S subscriber, String path, T answer);
    }

    private final SessionLink session;
    private final Request<T> request;
    private final Greeting<T, S> greeting;
    private final Map<String, Watch> watches = new HashMap<>();

    NodeWatches(SessionLink session, Request<T> request, Greeting<T, S> greeting) {
        this.session = session;
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
            session.later(watch::dropAsPlanned);
        }
    }

    /**
     * Sets the watches again that were lost with the connection; ZooKeeper's client does the same for those that were
     * set.
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
        if (watch != null && !session.isEnded()) {
            session.zk().dropWatch(path, watch.onEvent);
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
            if (subscribers.isEmpty() && watches.remove(path, this) && !session.isEnded()) {
                session.zk().dropWatch(path, onEvent);
            }
        }

        void set() {
            lost = false;
            seen = null;
            request.send(path, onEvent, this::onAnswer);
        }

        void setIfLost() {
            if (lost && session.isConnected() && watches.get(path) == this) {
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
                        // The next connection sets it again; this is for a server that refused and kept the connection.
                        session.later(this::setIfLost);
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
