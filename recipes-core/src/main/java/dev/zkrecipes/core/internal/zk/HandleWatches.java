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
 * The watches that this library has on one handle, which may outlive the client and keeps every watch that does not
 * fire: when the client is closed, only stubs that hold nothing may be left there. A consumer has one watch, on one
 * node and of one kind. Thread-safe.
 */
final class HandleWatches {
    private final Consumer<Runnable> delivery;
    private final Map<Consumer<NodeEvent>, Stub> pending = new ConcurrentHashMap<>();

    HandleWatches(Consumer<Runnable> delivery) {
        this.delivery = delivery;
    }

    /** The watch that feeds the consumer; always the same one, as the handle tells watches apart by equality. */
    Watcher feeding(Consumer<NodeEvent> consumer, boolean mayStayForEver) {
        return pending.computeIfAbsent(
                consumer,
                key -> new Stub(mayStayForEver, event -> {
                    // Somebody may have removed all watches of the handle: look again, as after a change.
                    if (event.getType() != EventType.None) { // session events go another way
                        pending.remove(consumer); // the watch is spent
                        NodeEvent told =
                                event.getType() == EventType.NodeDeleted ? NodeEvent.DELETED : NodeEvent.CHANGED;
                        delivery.accept(() -> consumer.accept(told));
                    }
                }));
    }

    /** The watch of a consumer, silent from now on, to be taken from the handle; null if it is spent. */
    @Nullable
    Stub dropped(Consumer<NodeEvent> consumer) {
        Stub watch = pending.remove(consumer);
        if (watch != null) {
            watch.silence();
        }
        return watch;
    }

    /** Notes whether a read has set the watch; after a loss of the answer it is read again, or dropped. */
    <T> Consumer<Answer<T>> noting(Consumer<NodeEvent> consumer, Consumer<Answer<T>> reply) {
        return answer -> {
            if (!answer.isOk() && !answer.isUnsettled()) {
                pending.remove(consumer);
            }
            reply.accept(answer);
        };
    }

    void clear() {
        pending.values().forEach(Stub::silence);
        pending.clear();
    }

    /** What the handle keeps, which may outlive what it feeds. It holds nothing once it is silenced. */
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
