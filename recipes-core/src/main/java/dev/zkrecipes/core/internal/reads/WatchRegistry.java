// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.reads;

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
 * The watches of one session. There are two kinds, which do not disturb each other on the same node. The one reports
 * each read of the node, and that the node is gone. The other reports only that the node is gone. A node has one
 * watch of each kind, however many subscribers it has.
 *
 * <p>A watch is set again here if an event has spent it and the node still exists, or if the connection was lost
 * before it was set. If the connection is lost after that, ZooKeeper's client sets it again by itself. When the last
 * subscriber leaves, the watch is dropped. That does no harm to a watch that is set on the same node later, because
 * the requests of a session are answered in order.
 *
 * <p><b>What no watch tells.</b> Since 3.8.4 and 3.9.2, a server does not report a change to a client that may not
 * read the node at that moment, although the watch is spent. So the watched nodes are read once in a long while.
 * Apart from that, nothing is sent while nothing happens. Confined to the engine thread.
 */
public final class WatchRegistry {

    /** Is told of a node's end and, if it has subscribed to them, of its data. */
    public interface Subscriber {

        /** Called after each read that finds the node, and immediately for a subscriber joining an existing watch. */
        default void onRead(String path, Content content) {}

        /** The watch was set, again perhaps: the node was there just now. Not told where there are reads to tell. */
        default void onSet(String path) {}

        /** The node is gone; the subscription has ended. */
        void onGone(String path);

        /** The node cannot be watched; the subscription has ended. */
        void onRefused(String path, Answer<?> answer);
    }

    private static final int LOOKED_AT_TOGETHER = 100; // nodes that one request reads

    private final ZooKeeperOperations zk;
    private final Supplier<State> state; // of the session
    private final Consumer<Runnable> later; // runs a task after the longest pause between two attempts
    private final Function<Runnable, Timer> afterALongWhile; // runs a task when it is time to look at the nodes
    private final Map<String, Watch> content = new HashMap<>(); // by path; those that report reads
    private final Map<String, Watch> deletions = new HashMap<>(); // by path; those that report only the end
    private @Nullable Timer nextLook; // null if nothing is watched
    private int missedEvents;

    public WatchRegistry(
            ZooKeeperOperations zk,
            Supplier<State> state,
            Consumer<Runnable> later,
            Function<Runnable, Timer> afterALongWhile) {
        this.zk = zk;
        this.state = state;
        this.later = later;
        this.afterALongWhile = afterALongWhile;
    }

    /**
     * Tells {@code subscriber} what the node holds each time it is read, and once that the node is gone. A second
     * call for the same subscriber only tells it again what was read last.
     */
    public void subscribe(String path, Subscriber subscriber) {
        Content seen = watch(content, path, subscriber).seen;
        if (seen != null) {
            subscriber.onRead(path, seen);
        }
    }

    /** Tells {@code subscriber} nothing more. If it was the last, the watch is dropped. */
    public void unsubscribe(String path, Subscriber subscriber) {
        leave(content, path, subscriber);
    }

    /**
     * Tells {@code subscriber} nothing more. If it was the last, the watch is dropped only after a while: on a path
     * that each new waiter watches, dropping and setting it each time would cost more than it saves.
     */
    public void unsubscribeLater(String path, Subscriber subscriber) {
        Watch watch = content.get(path);
        if (watch != null && watch.subscribers.remove(subscriber) && !watch.dropPlanned) {
            watch.dropPlanned = true;
            later.accept(() -> {
                watch.dropPlanned = false;
                watch.dropIfIdle();
            });
        }
    }

    /** Tells {@code subscriber} once that the node is gone, or was never there. */
    public void subscribeToDeletion(String path, Subscriber subscriber) {
        watch(deletions, path, subscriber);
    }

    public void unsubscribeFromDeletion(String path, Subscriber subscriber) {
        leave(deletions, path, subscriber);
    }

    private Watch watch(Map<String, Watch> kind, String path, Subscriber subscriber) {
        Watch watch = kind.get(path);
        if (watch == null) {
            watch = new Watch(kind, path);
            kind.put(path, watch);
            planLook();
            watch.set();
        }
        watch.subscribers.add(subscriber);
        return watch;
    }

    private static void leave(Map<String, Watch> kind, String path, Subscriber subscriber) {
        Watch watch = kind.get(path);
        if (watch != null && watch.subscribers.remove(subscriber)) {
            watch.dropIfIdle();
        }
    }

    /** Whether the server watches the node for subscribers to its deletion, and so will tell of it. */
    public boolean tellsDeletionOf(String path) {
        return isSet(deletions.get(path));
    }

    /** Whether the server watches the node for subscribers to its data. False while the node is being read again. */
    public boolean tellsContentOf(String path) {
        return isSet(content.get(path));
    }

    /** Whether the server is being asked to tell of the node's deletion: its answer tells whether the node is there. */
    public boolean asksForDeletionOf(String path) {
        Watch watch = deletions.get(path);
        return watch != null && !watch.isSet && !watch.lost;
    }

    private static boolean isSet(@Nullable Watch watch) {
        return watch != null && watch.isSet;
    }

    /**
     * The server has said that the node is gone. Its event came before that answer, or the server does not send one.
     * A watch that is being set will not be: the answer to it comes later, and says that there is no node.
     */
    public void onKnownGone(String path) {
        Watch watch = deletions.get(path);
        if (watch != null && !state.get().isFinal()) {
            if (watch.isSet) {
                watch.endUntold(subscriber -> subscriber.onGone(path));
            } else {
                watch.end(subscriber -> subscriber.onGone(path));
            }
        }
    }

    /** Sets the watches again that were lost with the last connection before they were set. */
    public void onConnected() {
        all().toList().forEach(Watch::setIfLost);
    }

    public boolean isEmpty() {
        return content.isEmpty() && deletions.isEmpty();
    }

    private Stream<Watch> all() {
        return Stream.concat(deletions.values().stream(), content.values().stream());
    }

    // ---- Look again.

    /** How many deletions were found of which no event had come. After each of them, events may be out of order. */
    public int missedEvents() {
        return missedEvents;
    }

    /** Sets or cancels the timer for the next look: there may be a first watch, or none, or the session has ended. */
    public void planLook() {
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
            lookAt(Iterators.partition(all().toList().iterator(), LOOKED_AT_TOGETHER));
        }
    }

    /** Reads the nodes in groups, one request after another. What was not answered is left to the next look. */
    private void lookAt(Iterator<List<Watch>> next) {
        if (next.hasNext()) {
            List<Watch> looked = next.next();
            zk.multi(looked.stream().map(Watch::read).toList(), answer -> {
                List<OpResult> results = answer.valueOrNull();
                for (int i = 0; results != null && results.size() == looked.size() && i < looked.size(); i++) {
                    looked.get(i).onLooked(results.get(i));
                }
                if (!answer.isUnsettled()) {
                    lookAt(next);
                }
            });
        }
    }

    // ---- One watch.

    /** One watch of one kind on one node. */
    private final class Watch {
        private final Map<String, Watch> kind;
        private final String path;
        private final Set<Subscriber> subscribers = new LinkedHashSet<>();
        // One object for the life of the watch, because ZooKeeper's client tells watches apart by identity.
        private final Consumer<NodeEvent> onEvent = this::onEvent;
        private boolean isSet; // false while the server is being asked for it
        private @Nullable Content seen; // what was read last; null while it is not set, or if its kind reads nothing
        private boolean lost; // whether the request for it got no answer
        private boolean dropPlanned;

        Watch(Map<String, Watch> kind, String path) {
            this.kind = kind;
            this.path = path;
        }

        void dropIfIdle() {
            if (subscribers.isEmpty() && remove() && !state.get().isFinal()) {
                zk.dropWatch(path, onEvent);
            }
        }

        /** Takes it out of the registry. Returns false if that was done before. */
        private boolean remove() {
            boolean removed = kind.remove(path, this);
            planLook();
            return removed;
        }

        /** Asks the server for the watch. */
        void set() {
            lost = false;
            isSet = false;
            seen = null;
            if (kind == content) {
                zk.readAndWatch(path, onEvent, this::onAnswer);
            } else {
                zk.watchChildren(path, onEvent, this::onAnswer);
            }
        }

        void setIfLost() {
            if (lost && state.get() == State.CONNECTED && kind.get(path) == this) {
                set();
            }
        }

        private void onAnswer(Answer<?> answer) {
            if (answer.isOk()) {
                isSet = true;
                if (answer.value() instanceof Content read) {
                    seen = read;
                    List.copyOf(subscribers).forEach(subscriber -> subscriber.onRead(path, read));
                } else {
                    List.copyOf(subscribers).forEach(subscriber -> subscriber.onSet(path));
                }
            } else if (answer.code() == Code.NONODE) {
                end(subscriber -> subscriber.onGone(path));
            } else if (answer.isUnsettled()) {
                lost = true;
                // The next connection sets it again, too. But a server may fail to answer and keep the connection.
                later.accept(this::setIfLost);
            } else {
                end(subscriber -> subscriber.onRefused(path, answer));
            }
        }

        private void onEvent(NodeEvent event) {
            if (event == NodeEvent.DELETED) {
                end(subscriber -> subscriber.onGone(path));
            } else if (subscribers.isEmpty()) {
                remove(); // nobody has subscribed to it, and now it is spent
            } else {
                set();
            }
        }

        /** A read that shows whether an event did not come. The list of children is short: most nodes have none. */
        Op read() {
            return kind == content ? Op.getData(path) : Op.getChildren(path);
        }

        /**
         * The node was looked at. Answers and events come in order, so whatever event came before this answer has
         * ended the watch, or the node is being read again because of it.
         */
        void onLooked(OpResult result) {
            if (kind.get(path) != this || state.get().isFinal()) {
                return;
            }
            if (result instanceof GetDataResult data && seen != null) {
                Stat before = seen.stat();
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

        /** Ends a watch that no event will end, so the client's side of it is dropped here. */
        private void endUntold(Consumer<Subscriber> telling) {
            zk.dropWatch(path, onEvent);
            end(telling);
        }

        /** Ends the watch, and tells all subscribers why. */
        private void end(Consumer<Subscriber> telling) {
            if (remove()) {
                // Safe without a copy: nobody can subscribe to it or leave it any more.
                subscribers.forEach(telling);
            }
        }
    }
}
