// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import java.time.Duration;
import java.util.Iterator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;

/** The changes that ZooKeeper has reported and nobody has looked at yet. Thread-safe. */
final class Changes implements Watcher {
    private final Set<String> paths = ConcurrentHashMap.newKeySet();
    private final Semaphore signals = new Semaphore(0);

    @Override
    public void process(WatchedEvent event) {
        if (event.getPath() != null) {
            paths.add(event.getPath());
        }
        wake();
    }

    /** Ends a wait although no change is known. */
    void wake() {
        signals.release();
    }

    /** Waits for something to happen. */
    void await() throws InterruptedException {
        signals.acquire();
        signals.drainPermits();
    }

    /** As {@link #await()}, but not for longer than that. */
    void await(Duration atMost) throws InterruptedException {
        if (signals.tryAcquire(atMost.toNanos(), TimeUnit.NANOSECONDS)) {
            signals.drainPermits();
        }
    }

    /** Hands out the paths that changed, each once. */
    void drainTo(Consumer<String> taker) {
        for (Iterator<String> each = paths.iterator(); each.hasNext(); ) {
            String path = each.next();
            each.remove(); // before it is read again, so that a later change counts
            taker.accept(path);
        }
    }
}
