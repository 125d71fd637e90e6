// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import dev.zkrecipes.core.LockObserver;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The locks that this application holds and waits for, through clients that have this observer. Thread-safe. */
final class LocalLocks implements LockObserver {
    private final Set<Local> all = ConcurrentHashMap.newKeySet();
    private final LongSupplier nanoTime;

    LocalLocks(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** A lock, the thread that requested it, and how long it has been held or waited for. */
    record Lock(String path, @Nullable String name, String kind, String thread, double seconds) {}

    @Override
    public Progress onWaiting(Request request) {
        Local begun = new Local(request);
        all.add(begun);
        return begun;
    }

    /** Returns the held locks, those held longest first. */
    List<Lock> held() {
        return show(true);
    }

    /** Returns the locks that are waited for, the longest waits first. */
    List<Lock> waiting() {
        return show(false);
    }

    private List<Lock> show(boolean held) {
        long now = nanoTime.getAsLong();
        return all.stream()
                .filter(each -> each.held == held)
                .map(each -> each.shown(now))
                .sorted(Comparator.comparingDouble(Lock::seconds).reversed())
                .toList();
    }

    private final class Local implements Progress {
        private final Request request;
        private final String thread = Thread.currentThread().getName();
        private volatile long since = nanoTime.getAsLong();
        private volatile boolean held;

        Local(Request request) {
            this.request = request;
        }

        Lock shown(long now) {
            double seconds = Duration.ofNanos(Math.max(0, now - since)).toMillis() / 1e3;
            return new Lock(request.path(), request.name().orElse(null), request.kindAsWord(), thread, seconds);
        }

        @Override
        public void onGranted(Duration waited) {
            since = nanoTime.getAsLong();
            held = true;
        }

        @Override
        public void onAbandoned(Duration waited, Ending how) {
            all.remove(this);
        }

        @Override
        public void onReleased(Duration time) {
            all.remove(this);
        }

        @Override
        public void onLost(Duration time, String reason) {
            all.remove(this);
        }
    }
}
