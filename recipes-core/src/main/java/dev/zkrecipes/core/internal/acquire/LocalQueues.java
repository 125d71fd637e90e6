// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The local queues of one client: one for each path, rule and options, while it is of use. Locks that differ in any of
 * these meet only in ZooKeeper's queue, so each keeps its own bound. Thread-safe.
 */
final class LocalQueues {

    private final Requests requests;
    private final Map<LocalQueue.Key, LocalQueue> queues = new ConcurrentHashMap<>();

    LocalQueues(Requests requests) {
        this.requests = requests;
    }

    /** A request for a single lock, not launched yet. */
    Acquisition acquisition(LockGroup group, Mode mode, boolean isAsynchronous) {
        LocalQueue.Key key = new LocalQueue.Key(group, group.options());
        return mode == Mode.TRY
                ? new AcquireLoop(requests, group, mode, (held, rule) -> adopt(key, held, rule))
                : new LocalRequest(requests, group, isAsynchronous, request -> join(key, request));
    }

    /** A try that finds the lock free passes it on later, as others do. On the engine thread. */
    private void adopt(LocalQueue.Key key, HeldNode held, Optional<Content> rule) {
        queues.computeIfAbsent(key, this::made).adopt(held, rule);
    }

    private LocalQueue made(LocalQueue.Key key) {
        return new LocalQueue(requests, key, this::forgetIfIdle);
    }

    private void join(LocalQueue.Key key, LocalRequest request) {
        LocalQueue joined = queues.compute(key, (same, known) -> {
            LocalQueue queue = known == null ? made(same) : known;
            queue.add(request);
            return queue;
        });
        joined.seeTo();
        request.leaveIfOver();
    }

    boolean isEmpty() {
        return queues.isEmpty();
    }

    /** Forgets a queue that is of no use, unless somebody has joined it just now. */
    private void forgetIfIdle(LocalQueue queue) {
        queues.computeIfPresent(queue.key(), (key, known) -> known == queue && queue.isIdle() ? null : known);
    }
}
