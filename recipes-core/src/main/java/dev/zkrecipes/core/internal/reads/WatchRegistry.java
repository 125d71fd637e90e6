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
 * The watches of one session. There are two kinds, which do not disturb each other on the same node: one reports each
 * read of the node, and that it is gone; the other reports only that it is gone. A node has one watch of each kind,
 * however many subscribe. It is set again here if an event spent it and the node is still there, or if the connection
 * was lost before it was set; one that was set, ZooKeeper's client sets again.
 *
 * <p>When the last subscriber leaves, the watch is dropped. A new watch that is set on the same node later is safe from
 * that, since requests of a session are answered in order.
 *
 * <p><b>What no watch tells.</b> A server tells nobody of a change to a node that he may not read at that moment (since
 * 3.8.4 and 3.9.2), and the watch is spent. So once in a long while the watched nodes are looked at.
 */
public final class WatchRegistry {

    /** Hears of a node's end and, if it subscribed to that, of its data. */
    public interface Subscriber {

        /** Called after each read that finds the node, and immediately for a subscriber joining an existing watch. */
        default void onRead(String path, Content content) {}

        /** The node is gone; the subscription has ended. */
        void onGone(String path);

        /** The node cannot be watched; the subscription has ended. */
        void onRefused(String path, Answer<?> answer);
    }

    private static final int LOOKED_AT_TOGETHER = 100;

    private final ZooKeeperOperations zk;
    private final Supplier<State> state;
    private final Consumer<Runnable> later;
    private final Function<Runnable, Timer> afterALongWhile;
    private final Map<String, Watch> content = new HashMap<>(); // by path
    private final Map<String, Watch> deletions = new HashMap<>();
    private @Nullable Timer nextLook;
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
     * Tells {@code subscriber} what the node holds each time it is read, and once when it is gone. If it is subscribed
     * already, it is only told again what was read last.
     */
    public void subscribe(String path, Subscriber subscriber) {
        Content seen = watch(content, path, subscriber).seen;
        if (seen != null) {
            subscriber.onRead(path, seen);
        }
    }

    public void unsubscribe(String path, Subscriber subscriber) {
        leave(content, path, subscriber);
    }

    /**
     * Tells it nothing more. A watch without subscribers is dropped only a while later: on a path that each new waiter
     * watches, dropping it each time would cost more than it saves.
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

    /** Tells {@code subscriber} once when the node is gone or was never there. */
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

    /** Whether the server watches the node for subscribers to its deletion. */
    public boolean tellsDeletionOf(String path) {
        return isSet(deletions.get(path));
    }

    /** Whether the server watches the node for subscribers to its data, and it is not being read again. */
    public boolean tellsContentOf(String path) {
        return isSet(content.get(path));
    }

    private static boolean isSet(@Nullable Watch watch) {
        return watch != null && watch.isSet;
    }

    /** The server has said that the node is gone. The event of that came before, unless the server told nobody. */
    public void onKnownGone(String path) {
        Watch watch = deletions.get(path);
        if (watch != null && !state.get().isFinal()) {
            watch.endUntold(subscriber -> subscriber.onGone(path));
        }
    }

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

    /** How many deletions were found of which no event had come. */
    public int missedEvents() {
        return missedEvents;
    }

    /** There may be a first watch, or none any more, or the session has ended. */
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

    private final class Watch {
        private final Map<String, Watch> kind;
        private final String path;
        private final Set<Subscriber> subscribers = new LinkedHashSet<>();
        // One object for the life of the watch: ZooKeeper's client tells watches apart by identity.
        private final Consumer<NodeEvent> onEvent = this::onEvent;
        private boolean isSet; // not while the server is being asked
        private @Nullable Content seen; // while it is set, if the node is read
        private boolean lost;
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

        private boolean remove() {
            boolean removed = kind.remove(path, this);
            planLook();
            return removed;
        }

        void set() {
            lost = false;
            isSet = false;
            seen = null;
            if (kind == content) {
                zk.readAndWatch(path, onEvent, this::onAnswer);
            } else {
                zk.watchDeletion(path, onEvent, this::onAnswer);
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
                }
            } else if (answer.code() == Code.NONODE) {
                end(subscriber -> subscriber.onGone(path));
            } else if (answer.isUnsettled()) {
                lost = true;
                // The next connection sets it again, too; a server may refuse and keep the connection.
                later.accept(this::setIfLost);
            } else {
                end(subscriber -> subscriber.onRefused(path, answer));
            }
        }

        private void onEvent(NodeEvent event) {
            if (event == NodeEvent.DELETED) {
                end(subscriber -> subscriber.onGone(path));
            } else if (subscribers.isEmpty()) {
                remove(); // it had no subscribers or was dropped, and now it is spent
            } else {
                set();
            }
        }

        /** A read that shows whether an event did not come. */
        Op read() {
            return kind == content ? Op.getData(path) : Op.getChildren(path);
        }

        /** Answers and events come in order: what was told meanwhile has ended the watch, or is being read. */
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

        private void endUntold(Consumer<Subscriber> telling) {
            zk.dropWatch(path, onEvent);
            end(telling);
        }

        private void end(Consumer<Subscriber> telling) {
            if (remove()) {
                // Nobody can subscribe or leave any more.
                subscribers.forEach(telling);
            }
        }
    }
}
