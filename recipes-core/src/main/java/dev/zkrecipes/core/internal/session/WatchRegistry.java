// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import com.google.common.collect.Iterators;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.NodeEvent;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.ErrorResult;
import org.apache.zookeeper.OpResult.GetDataResult;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * The watches of one session. There are two kinds, which do not disturb each other on the same node: one reports each
 * read of the node, and that it is gone; the other reports only that it is gone. A node has one watch of each kind,
 * however many subscribe.
 *
 * <p><b>What no watch tells.</b> A server tells nobody of a change to a node that he may not read at that moment (since
 * 3.8.4 and 3.9.2), and the watch is spent. So once in a long while the watched nodes are looked at. Nothing else is
 * sent while nothing happens.
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
        default void onWatched(String path) {}
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

    /** A read that shows whether an event did not come, and what is to be told its result. */
    private record Look(Op read, Consumer<OpResult> onResult) {}

    /** How many nodes one request looks at. */
    private static final int TOGETHER = 100;

    private final ZooKeeperOperations zk;
    private final Supplier<State> state;
    private final Consumer<Runnable> later;
    private final Function<Runnable, Timer> afterALongWhile;
    private final NodeWatches<Content, Subscriber> content;
    private final NodeWatches<String, DeletionSubscriber> deletions;
    private @Nullable Timer nextLook;
    private int missedEvents;

    /**
     * Begins without watches.
     *
     * @param state of the session
     * @param later runs a task after the longest retry delay
     * @param afterALongWhile runs a task when it is time to look at what is watched
     */
    WatchRegistry(
            ZooKeeperOperations zk,
            Supplier<State> state,
            Consumer<Runnable> later,
            Function<Runnable, Timer> afterALongWhile) {
        this.zk = zk;
        this.state = state;
        this.later = later;
        this.afterALongWhile = afterALongWhile;
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
     * Tells it nothing more. A watch without subscribers is dropped only a while later: on a path that each new waiter
     * watches, dropping it each time would cost more than it saves.
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

    /** Sets again what was lost with the connection. */
    public void onConnected() {
        content.onConnected();
        deletions.onConnected();
    }

    public boolean isEmpty() {
        return content.isEmpty() && deletions.isEmpty();
    }

    // ---- Look again.

    /** How many deletions were found of which no event came. */
    int missedEvents() {
        return missedEvents;
    }

    /** There is a first watch of a kind, or none any more, or the session has ended. */
    void planLook() {
        boolean isNeeded = !isEmpty() && !state.get().isFinal();
        if (isNeeded && nextLook == null) {
            nextLook = afterALongWhile.apply(this::look);
        } else if (!isNeeded && nextLook != null) {
            nextLook.cancel();
            nextLook = null;
        }
    }

    private void look() {
        nextLook = null;
        planLook();
        if (state.get() == State.CONNECTED) {
            List<Look> looks = Stream.concat(deletions.looks(Op::getChildren), content.looks(Op::getData))
                    .toList();
            lookAt(Iterators.partition(looks.iterator(), TOGETHER));
        }
    }

    private void lookAt(Iterator<List<Look>> next) {
        if (next.hasNext()) {
            List<Look> looks = next.next();
            zk.multi(looks.stream().map(Look::read).toList(), answer -> {
                List<OpResult> results = answer.valueOrNull();
                for (int i = 0; results != null && results.size() == looks.size() && i < looks.size(); i++) {
                    looks.get(i).onResult().accept(results.get(i));
                }
                if (!answer.isUnsettled()) {
                    lookAt(next);
                }
            });
        }
    }

    // ---- Each kind.

    /**
     * The watches of one kind: one for each node, however many subscribe. A watch is set again here if an event spent
     * it and the node is still there, or if the connection was lost before it was set.
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
                if (watches.size() == 1) {
                    planLook();
                }
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
                later.accept(() -> {
                    watch.dropPlanned = false;
                    watch.dropIfIdle();
                });
            }
        }

        /**
         * Sets the watches again that were lost with the connection; ZooKeeper's client does the same for those that
         * were set.
         */
        void onConnected() {
            List.copyOf(watches.values()).forEach(Watch::setIfLost);
        }

        /** The node is gone, and no event told it. */
        void onKnownGone(String path) {
            Watch watch = watches.get(path);
            if (watch != null && !state.get().isFinal()) {
                watch.endUntold(subscriber -> subscriber.onGone(path));
            }
        }

        /** What there is to look at, by such reads. */
        Stream<Look> looks(Function<String, Op> read) {
            return watches.values().stream().map(watch -> new Look(read.apply(watch.path), watch::onLooked));
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

            void dropIfIdle() {
                if (subscribers.isEmpty() && remove() && !state.get().isFinal()) {
                    zk.dropWatch(path, onEvent);
                }
            }

            private boolean remove() {
                boolean removed = watches.remove(path, this);
                if (watches.isEmpty()) {
                    planLook();
                }
                return removed;
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
                            // The next connection sets it again, too; a server may refuse and keep the connection.
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
                            remove(); // it had no subscribers or was dropped, and now it is spent
                        } else {
                            set();
                        }
                    }
                }
            }

            /** Answers and events come in order: what was told meanwhile has ended the watch, or is being read. */
            private void onLooked(OpResult result) {
                if (watches.get(path) != this || state.get().isFinal()) {
                    return;
                }
                if (result instanceof GetDataResult data && seen instanceof Content known) {
                    Stat before = known.stat();
                    Stat now = data.getStat();
                    if (before.getVersion() != now.getVersion() || before.getCzxid() != now.getCzxid()) {
                        set();
                    }
                } else if (result instanceof ErrorResult error) {
                    Answer<?> answer = Answer.failed(Answer.codeOf(error.getErr()));
                    if (answer.code() == Code.NONODE) {
                        missedEvents++;
                        endUntold(subscriber -> subscriber.onGone(path));
                    } else if (answer.code() == Code.NOAUTH) {
                        endUntold(subscriber -> subscriber.onRefused(path, answer));
                    }
                }
            }

            private void endUntold(Consumer<S> telling) {
                zk.dropWatch(path, onEvent);
                end(telling);
            }

            private void end(Consumer<S> telling) {
                if (remove()) {
                    // Nobody can subscribe or leave any more.
                    subscribers.forEach(telling);
                }
            }
        }
    }
}
