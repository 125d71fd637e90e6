// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.NodeEvent;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/**
 * The watches that this library has on one handle. The handle may outlive the client, and it keeps every watch that
 * has not fired. So when the client is closed, it may leave only stubs there that refer to nothing. A consumer has
 * one watch, on one node and of one kind; it takes two consumers to watch a node in both ways. Thread-safe.
 */
final class HandleWatches {
    private final Consumer<Runnable> delivery; // runs a task on the engine thread
    private final Map<Consumer<NodeEvent>, Stub> pending = new ConcurrentHashMap<>();

    HandleWatches(Consumer<Runnable> delivery) {
        this.delivery = delivery;
    }

    /**
     * The watch that feeds the consumer. A consumer always gets the same object, because the handle tells watches
     * apart by equality. {@code mayStayForEver} says that nothing may ever fire the watch, as the node is never
     * deleted.
     */
    Watcher feeding(Consumer<NodeEvent> consumer, boolean mayStayForEver) {
        return pending.computeIfAbsent(
                consumer,
                key -> new Stub(mayStayForEver, event -> {
                    // If somebody has removed all watches of the handle, the consumer must look again, as after a
                    // change.
                    if (event.getType() != EventType.None) { // session events go another way
                        pending.remove(consumer); // the watch is spent
                        NodeEvent told =
                                event.getType() == EventType.NodeDeleted ? NodeEvent.DELETED : NodeEvent.CHANGED;
                        delivery.accept(() -> consumer.accept(told));
                    }
                }));
    }

    /**
     * Silences the watch of a consumer and returns it, so that the caller can take it off the handle; null if it has
     * fired.
     */
    @Nullable
    Stub dropped(Consumer<NodeEvent> consumer) {
        Stub watch = pending.remove(consumer);
        if (watch != null) {
            watch.silence();
        }
        return watch;
    }

    /**
     * Wraps the reply to a read that sets a watch, so that a watch that was not set is forgotten. If the answer is
     * lost, the watch may be set: the caller reads again with the same watch, or drops it.
     */
    <T> Consumer<Answer<T>> noting(Consumer<NodeEvent> consumer, Consumer<Answer<T>> reply) {
        return answer -> {
            if (!answer.isOk() && !answer.isUnsettled()) {
                pending.remove(consumer);
            }
            reply.accept(answer);
        };
    }

    /** Silences all watches, since the client is done with the handle. */
    void clear() {
        pending.values().forEach(Stub::silence);
        pending.clear();
    }

    /**
     * The object that the handle keeps, perhaps for longer than the client lives. It refers to nothing once it is
     * silenced.
     */
    static final class Stub implements Watcher {
        final boolean mayStayForEver;
        private volatile @Nullable Consumer<WatchedEvent> listener;

        Stub(boolean mayStayForEver, Consumer<WatchedEvent> listener) {
            this.mayStayForEver = mayStayForEver;
            this.listener = listener;
        }

        void silence() {
            listener = null;
        }

        @Override
        public void process(WatchedEvent event) {
            Consumer<WatchedEvent> told = listener;
            if (told != null) {
                told.accept(event);
            }
        }
    }
}
