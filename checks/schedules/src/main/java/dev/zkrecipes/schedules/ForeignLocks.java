// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.schedules;

import static dev.zkrecipes.schedules.PlayScene.PATH;
import static dev.zkrecipes.schedules.PlayScene.check;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.spi.ForeignLock;
import dev.zkrecipes.core.spi.LockParts;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Plays of a lock of another library, in which calls of that library meet each other. */
final class ForeignLocks {
    static final List<Play> ALL = List.of(
            new Play("foreign-time-against-owner", ForeignLocks::timeAgainstOwner),
            new Play("foreign-loss-against-close", ForeignLocks::lossAgainstClose),
            new Play("foreign-cancel-against-grant", ForeignLocks::cancelAgainstGrant));

    private static final Duration MOST = Duration.ofMillis(1);

    private ForeignLocks() {}

    /** A lock that counts, and that only the thread that has acquired it can release, as Curator's mutex. */
    private static final class Counted implements ForeignLock {
        private final AtomicReference<@Nullable Thread> owner = new AtomicReference<>();
        private final AtomicInteger count = new AtomicInteger();
        private final AtomicInteger releases = new AtomicInteger();
        private final CompletableFuture<Void> lost = new CompletableFuture<>();
        private final CompletableFuture<ForeignLock.Hold> asked = new CompletableFuture<>();

        @Override
        public String path() {
            return PATH;
        }

        @Override
        public Hold acquire() {
            Thread caller = Thread.currentThread();
            check(owner.get() == caller || owner.compareAndSet(null, caller), "it is taken");
            count.incrementAndGet();
            return new Held();
        }

        @Override
        public Optional<Hold> tryAcquire(Duration atMost) {
            return Optional.of(acquire());
        }

        @Override
        public CompletableFuture<Hold> acquireAsync() {
            return asked;
        }

        private final class Held implements Hold {
            @Override
            public LeaseState state() {
                return lost.isDone() ? LeaseState.LOST : LeaseState.HELD;
            }

            @Override
            public void onLost(Runnable listener) {
                var unused = lost.thenRun(listener);
            }

            @Override
            public void release() {
                if (owner.get() != Thread.currentThread()) {
                    throw new LockException("it belongs to another thread");
                }
                releases.incrementAndGet();
                if (count.decrementAndGet() == 0) {
                    owner.set(null);
                }
            }

            @Override
            public void releaseByOwner() {
                release();
            }
        }
    }

    private static InterProcessLock lock(PlayScene scene, Counted counted, LockOptions options)
            throws InterruptedException {
        return LockParts.foreign(counted, List.of(new InterProcessMutex(scene.client(), PATH)), options);
    }

    /** Another thread cannot release the lock when the time is over. Its owner does so, once, and has its next hold. */
    private static void timeAgainstOwner(PlayScene scene) throws InterruptedException {
        Counted counted = new Counted();
        InterProcessLock lock = lock(scene, counted, LockOptions.defaults().withHoldAtMost(MOST));
        scene.start("holds", () -> {
            Lease lease = lock.acquire();
            TimeUnit.NANOSECONDS.sleep(MOST.toNanos());
            lease.close();
            Lease next = lock.acquire();
            lease.close();
            check(counted.count.get() == 1, "it is held " + counted.count + " times instead of once");
            next.close();
            check(counted.count.get() == 0, "it stays held " + counted.count + " times");
            PlayScene.expectOneEnd(lease);
        });
    }

    /** Whoever has seen the loss sees it for good, however the lease was closed. */
    private static void lossAgainstClose(PlayScene scene) throws InterruptedException, ExecutionException {
        Counted counted = new Counted();
        InterProcessLock lock = lock(scene, counted, LockOptions.defaults());
        Lease lease = lock.acquire();
        scene.start("loses it", () -> counted.lost.complete(null));
        LeaseState seen = lease.state();
        lease.close();
        check(seen != LeaseState.LOST || lease.state() == seen, "it was LOST and is " + lease.state());
        check(counted.releases.get() == 1, "released " + counted.releases + " times");
        PlayScene.expectOneEnd(lease);
    }

    /** A grant that nobody takes is released. */
    private static void cancelAgainstGrant(PlayScene scene) throws InterruptedException, ExecutionException {
        Counted counted = new Counted();
        InterProcessLock lock = lock(scene, counted, LockOptions.defaults());
        CompletableFuture<Void> over = new CompletableFuture<>();
        ForeignLock.Hold granted = new ForeignLock.Hold() {
            @Override
            public LeaseState state() {
                return LeaseState.HELD;
            }

            @Override
            public void onLost(Runnable listener) {}

            @Override
            public void release() {
                check(over.complete(null), "released twice");
            }
        };
        CompletableFuture<Lease> request = lock.acquireAsync();
        scene.start("cancels", () -> request.cancel(false));
        scene.start(
                "takes",
                () -> PlayScene.endsAs(
                        CancellationException.class, () -> request.get().close()));
        if (!counted.asked.complete(granted)) {
            over.complete(null); // nothing was granted
        }
        over.get();
    }
}
