// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.reads;

import com.google.common.base.Utf8;
import dev.zkrecipes.core.internal.zk.PacketLimit;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.NodeEvent;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
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
 * The watches of one session. There are two kinds, which do not affect each other on the same node. A content watch
 * reports each read of the node, and its deletion. A deletion watch reports only the deletion. A node has one watch of
 * each kind, however many subscribers it has.
 *
 * <p>A watch is set again here if an event has fired it and the node still exists, or if the connection was lost before
 * the watch was set. If the connection is lost after that, ZooKeeper's client sets the watch again by itself. When the
 * last subscriber leaves, the watch is dropped. That does not affect a watch that is set on the same node later,
 * because the requests of a session are answered in order.
 *
 * <p><b>What no watch reports.</b> Since 3.8.4 and 3.9.2, a server does not report a change to a client that may not
 * read the node at that moment, although the watch is then used up. So the watched nodes are read once in a long while.
 * Apart from that, nothing is sent while nothing happens. Confined to the engine thread.
 */
public final class WatchRegistry {

    /** Is notified of a node's deletion and, if it has subscribed to the content, of the node's data. */
    public interface Subscriber {

        /**
         * Called after each read that finds the node, and immediately for a subscriber that joins an existing watch.
         */
        default void onRead(String path, Content content) {}

        /** Called when a deletion watch was set, for the first time or again: the node existed just now. */
        default void onSet(String path) {}

        /** Called when the node is gone. The subscription has ended. */
        void onGone(String path);

        /** Called when the node cannot be watched. The subscription has ended. */
        void onRefused(String path, Answer<?> answer);
    }

    private static final int LOOKED_AT_TOGETHER = 100; // how many nodes one request reads at most
    /** An upper bound of the bytes that one node takes in a request or its answer, besides its path and data. */
    private static final int AROUND = 100;

    private final ZooKeeperOperations zk;
    private final Supplier<State> state; // of the session
    private final Consumer<Runnable> later; // runs a task after the longest pause between two attempts
    private final Function<Runnable, Timer> afterALongWhile; // runs a task when it is time to look at the nodes
    private final Map<String, Watch> content = new HashMap<>(); // content watches, by path
    private final Map<String, Watch> deletions = new HashMap<>(); // deletion watches, by path
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
     * Notifies {@code subscriber} of the node's content each time it is read, and once of the node's deletion. A second
     * call for the same subscriber only reports again what was read last.
     */
    public void subscribe(String path, Subscriber subscriber) {
        Content seen = watch(content, path, subscriber).seen;
        if (seen != null) {
            subscriber.onRead(path, seen);
        }
    }

    /** Ends the notification of {@code subscriber}. If it was the last one, the watch is dropped. */
    public void unsubscribe(String path, Subscriber subscriber) {
        leave(content, path, subscriber);
    }

    /**
     * Ends the notification of {@code subscriber}. If it was the last one, the watch is dropped only after a while: on
     * a path that each new waiter watches, dropping and setting it each time would cost more than it saves.
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

    /** Drops at once the watches that would be dropped after a while because nobody needs them. */
    public void dropUnused() {
        all().toList().forEach(Watch::dropIfIdle);
    }

    /** Notifies {@code subscriber} once when the node is gone or turns out not to exist. */
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

    /** Whether a deletion watch is set on the node, so that the server will report its deletion. */
    public boolean tellsDeletionOf(String path) {
        return isSet(deletions.get(path));
    }

    /** Whether a content watch is set on the node. False while the node is being read again. */
    public boolean tellsContentOf(String path) {
        return isSet(content.get(path));
    }

    /**
     * Whether a request that sets a deletion watch on the node is under way. The server's answer to it will show
     * whether the node exists, so nobody needs to ask for that.
     */
    public boolean asksForDeletionOf(String path) {
        Watch watch = deletions.get(path);
        return watch != null && !watch.isSet && !watch.lost;
    }

    private static boolean isSet(@Nullable Watch watch) {
        return watch != null && watch.isSet;
    }

    /**
     * Called when the server has said that the node is gone. Either the event came before that answer, or the server
     * will not send one. A watch that is being set will not be set: the answer to it comes later, and says that there
     * is no node.
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

    /** Sets the watches again whose request was lost with the last connection. */
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

    /**
     * Returns how many deletions were found of which no event had come. After each of them, events may be out of order.
     */
    public int missedEvents() {
        return missedEvents;
    }

    /**
     * Sets or cancels the timer for the next look, after the first watch was added, the last one was removed, or the
     * session has ended.
     */
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
            lookAt(new ArrayDeque<>(all().toList()));
        }
    }

    /**
     * Reads the nodes in groups, one request after another. A node that is being read already is left out: its size is
     * not known, and the answer shows what the look would show. Unanswered reads are left to the next look.
     */
    private void lookAt(Deque<Watch> next) {
        List<Watch> looked = group(next);
        if (!looked.isEmpty()) {
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

    /**
     * Takes the next group. Its request and the answer to it take at most half of what a packet holds, unless it is a
     * single node: the other half is for a chroot, and for data that have grown since they were read.
     */
    private List<Watch> group(Deque<Watch> next) {
        List<Watch> group = new ArrayList<>();
        int limit = PacketLimit.of(zk) / 2;
        long size = 0;
        for (Watch watch = next.peek(); watch != null && group.size() < LOOKED_AT_TOGETHER; watch = next.peek()) {
            if (watch.isSet) {
                size += watch.size();
                if (size > limit && !group.isEmpty()) {
                    break;
                }
                group.add(watch);
            }
            next.remove();
        }
        return group;
    }

    // ---- One watch.

    /** One watch of one kind on one node. */
    private final class Watch {
        private final Map<String, Watch> kind;
        private final String path;
        private final Set<Subscriber> subscribers = new LinkedHashSet<>();
        // One object for the life of the watch, because ZooKeeper's client distinguishes watches by identity.
        private final Consumer<NodeEvent> onEvent = this::onEvent;
        private boolean isSet; // false while the server is being asked for the watch
        // What was read last; null while the watch is not set, and always for a deletion watch.
        private @Nullable Content seen;
        private boolean lost; // whether the request for the watch got no answer
        // Whether such a request was lost since the watch was last set. Then the client's side of it may be left.
        private boolean mayBeLeft;
        private boolean dropPlanned;

        Watch(Map<String, Watch> kind, String path) {
            this.kind = kind;
            this.path = path;
        }

        void dropIfIdle() {
            if (subscribers.isEmpty() && remove()) {
                drop();
            }
        }

        /** Drops the client's side of the watch. A session that has ended keeps none. */
        private void drop() {
            if (!state.get().isFinal()) {
                zk.dropWatch(path, onEvent);
            }
        }

        /** Removes the watch from the registry. Returns false if it was removed before. */
        private boolean remove() {
            boolean removed = kind.remove(path, this);
            planLook();
            return removed;
        }

        /** Requests the watch from the server. */
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
                mayBeLeft = false;
                if (answer.value() instanceof Content read) {
                    seen = read;
                    List.copyOf(subscribers).forEach(subscriber -> subscriber.onRead(path, read));
                } else {
                    List.copyOf(subscribers).forEach(subscriber -> subscriber.onSet(path));
                }
            } else if (answer.code() == Code.NONODE) {
                end(subscriber -> subscriber.onGone(path));
            } else if (answer.isUnsettled() && kind.get(path) != this) {
                drop(); // it ended meanwhile, and no answer will tell the client that it was not set
            } else if (answer.isUnsettled()) {
                lost = true;
                mayBeLeft = true;
                // The next connection sets the watch again, too. But a server may fail to answer and keep the
                // connection.
                later.accept(this::setIfLost);
            } else {
                end(subscriber -> subscriber.onRefused(path, answer));
            }
        }

        private void onEvent(NodeEvent event) {
            if (event == NodeEvent.DELETED) {
                end(subscriber -> subscriber.onGone(path));
            } else if (subscribers.isEmpty()) {
                remove(); // the watch has fired, and nobody needs it any more
            } else {
                set();
            }
        }

        /** Returns how many bytes a look at the node takes, judging by what was read last. */
        long size() {
            return AROUND + Utf8.encodedLength(path) + (seen == null ? 0L : seen.data().length);
        }

        /**
         * Returns a read that shows whether an event is missing. The list of children is short: most nodes have none.
         */
        Op read() {
            return kind == content ? Op.getData(path) : Op.getChildren(path);
        }

        /**
         * Handles the result of a look at the node. Answers and events come in order, so any event that came before
         * this answer has ended the watch, or the node is being read again because of it.
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

        /** Ends a watch that no event will end, and therefore drops the client's side of it. */
        private void endUntold(Consumer<Subscriber> telling) {
            drop();
            end(telling);
        }

        /** Ends the watch, and notifies all subscribers of the reason. */
        private void end(Consumer<Subscriber> telling) {
            if (remove()) {
                if (mayBeLeft) {
                    drop();
                }
                // Safe without a copy: nobody can subscribe or unsubscribe any more.
                subscribers.forEach(telling);
            }
        }
    }
}
