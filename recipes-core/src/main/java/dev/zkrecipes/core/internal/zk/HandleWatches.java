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
 * The watches that this library has on one handle. The handle may outlive the client, and it keeps every watch that has
 * not fired. So a closed client must leave nothing there but stubs that refer to nothing. A consumer has one watch, on
 * one node and of one kind; watching a node in both ways takes two consumers. Thread-safe.
 */
final class HandleWatches {
    private final Consumer<Runnable> delivery; // runs a task on the engine thread
    private final Map<Consumer<NodeEvent>, Stub> pending = new ConcurrentHashMap<>();

    HandleWatches(Consumer<Runnable> delivery) {
        this.delivery = delivery;
    }

    /**
     * Returns the watch that notifies the consumer. While that watch is pending, the consumer gets the same object
     * again, because the handle compares watches by equality. {@code mayStayForEver} says that the watch may never
     * fire, because the node is never deleted.
     */
    Watcher feeding(Consumer<NodeEvent> consumer, boolean mayStayForEver) {
        return pending.computeIfAbsent(
                consumer,
                key -> new Stub(mayStayForEver, event -> {
                    // If somebody removed all watches of the handle, the consumer must read again, as after a change.
                    if (event.getType() != EventType.None) { // session events are handled elsewhere
                        pending.remove(consumer); // the watch has fired
                        NodeEvent told =
                                event.getType() == EventType.NodeDeleted ? NodeEvent.DELETED : NodeEvent.CHANGED;
                        delivery.accept(() -> consumer.accept(told));
                    }
                }));
    }

    /**
     * Silences the pending watch of a consumer and returns it, so that the caller can remove it from the handle.
     * Returns null if the watch has fired.
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
     * Wraps the reply to a read that sets a watch, to forget the watch if the server did not set it. If the answer is
     * lost, the watch may have been set: the caller reads again with the same watch, or drops it.
     */
    <T> Consumer<Answer<T>> noting(Consumer<NodeEvent> consumer, Consumer<Answer<T>> reply) {
        return answer -> {
            if (!answer.isOk() && !answer.isUnsettled()) {
                pending.remove(consumer);
            }
            reply.accept(answer);
        };
    }

    /** Silences all watches. Called when the client no longer uses the handle. */
    void clear() {
        pending.values().forEach(Stub::silence);
        pending.clear();
    }

    /**
     * The watcher that is registered with the handle, which may keep it longer than the client exists. Once silenced,
     * it refers to nothing.
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
