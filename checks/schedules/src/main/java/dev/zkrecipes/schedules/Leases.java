// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.schedules;

import static dev.zkrecipes.schedules.PlayScene.PATH;
import static dev.zkrecipes.schedules.PlayScene.check;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Revocation;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.schedules.PlayScene.Kind;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Plays in which leases end. */
final class Leases {
    private static final Kind HAND_OFF = Kind.passedOn(10);

    static final List<Play> ALL = List.of(
            new Play("two-close-a-lease", Leases::twoClose),
            new Play("two-close-the-leases-of-a-dead-thread", Leases::heirs),
            new Play("session-end-against-close-of-inner-lease", Leases::reentrant),
            new Play("session-end-against-grant", scene -> sessionEndsWhileAsked(scene, Kind::strict)),
            new Play("session-end-against-hand-off", scene -> sessionEndsWhileAsked(scene, HAND_OFF)),
            new Play("session-end-against-close", scene -> ends(scene, Kind::strict, scene::expire)),
            new Play("session-end-against-close-with-hand-off", scene -> ends(scene, HAND_OFF, scene::expire)),
            new Play("deletion-against-close", scene -> ends(scene, Kind::strict, () -> deleteAll(scene))),
            new Play("session-end-tells-once", Leases::toldOnce),
            new Play("hold-at-most-against-close", scene -> holdAtMost(scene, Kind::strict)),
            new Play("hold-at-most-against-close-with-hand-off", scene -> holdAtMost(scene, HAND_OFF)),
            new Play("revocation-against-close", Leases::revocation),
            new Play("revocation-told-to-each-listener-once", Leases::revocationListeners),
            new Play("re-entry-against-close-by-timer", Leases::reentryAgainstTimer),
            new Play("read-lock-against-close-of-write-lock", Leases::readAgainstClose));

    private Leases() {}

    private static void deleteAll(PlayScene scene) {
        scene.server().children(PATH).forEach(name -> scene.server().delete(PATH + "/" + name));
    }

    private static void twoClose(PlayScene scene) throws InterruptedException, ExecutionException {
        Observer observer = new Observer();
        ZooKeeperClient client = scene.client(builder -> builder.observer(observer));
        Lease held = new InterProcessMutex(client, PATH).acquireAsync().get();
        scene.start("closes", held::close);
        scene.start("closes, too", held::close);
        scene.joinAll();
        check(held.state() == LeaseState.RELEASED, "it is " + held.state());
        PlayScene.expectOneEnd(held);
        check(observer.released.get() == 1, "released " + observer.released + " times");
    }

    private static void heirs(PlayScene scene) throws InterruptedException, ExecutionException {
        ZooKeeperClient client = scene.client();
        InterProcessMutex mutex = new InterProcessMutex(client, PATH);
        List<Lease> left = new CopyOnWriteArrayList<>();
        scene.start("dies", () -> {
            left.add(mutex.acquire());
            left.add(mutex.acquire());
        });
        scene.joinAll();
        left.forEach(lease -> scene.start("inherits", lease::close));
        scene.joinAll();
        for (Lease lease : left) {
            check(lease.state() == LeaseState.RELEASED, "it is " + lease.state());
            PlayScene.expectOneEnd(lease);
        }
        check(!mutex.isAcquiredInThisProcess(), "it is still recorded");
        scene.expectFree(client);
    }

    private static void sessionEndsWhileAsked(PlayScene scene, Kind kind) throws InterruptedException {
        ZooKeeperClient client = scene.client();
        InterProcessLock mutex = kind.on(client, LockOptions.defaults());
        for (int i = 0; i < 2; i++) {
            scene.start("asks " + i, () -> {
                Lease lease = mutex.acquire();
                lease.close();
                PlayScene.expectOneEnd(lease);
            });
        }
        scene.start("ends the session", scene::expire);
        scene.expectFree(client);
        scene.closingTakesTime();
    }

    private static void ends(PlayScene scene, Kind kind, PlayScene.Body end)
            throws InterruptedException, ExecutionException {
        ZooKeeperClient client = scene.client();
        Lease held = kind.on(client, LockOptions.defaults()).acquireAsync().get();
        AtomicInteger lost = new AtomicInteger();
        CompletableFuture<Void> told = new CompletableFuture<>();
        held.onLost(() -> {
            lost.incrementAndGet();
            told.complete(null);
        });
        scene.start("closes", held::close);
        scene.start("ends it", end);
        scene.joinAll();
        PlayScene.expectOneEnd(held);
        if (held.state() == LeaseState.LOST) {
            told.get();
        }
        check(lost.get() == (held.state() == LeaseState.LOST ? 1 : 0), "lost " + lost + " times: " + held.state());
        scene.expectFree(client);
        scene.closingTakesTime();
    }

    private static void reentrant(PlayScene scene) throws InterruptedException {
        ZooKeeperClient client = scene.client();
        InterProcessMutex mutex = new InterProcessMutex(client, PATH);
        scene.start("holds twice", () -> {
            Lease outer = mutex.acquire();
            try {
                Lease inner = mutex.acquire();
                var early = inner.ended().toCompletableFuture();
                inner.close();
                PlayScene.expectOneEnd(inner);
                check(early.get() == inner.state(), "it was told " + early.get() + " and is " + inner.state());
            } catch (LockLostException e) {
                // The session ended before the second acquire.
            }
            outer.close();
            PlayScene.expectOneEnd(outer);
        });
        scene.start("ends the session", scene::expire);
        scene.expectFree(client);
        scene.closingTakesTime();
    }

    private static void toldOnce(PlayScene scene) throws InterruptedException, ExecutionException {
        Observer observer = new Observer();
        ZooKeeperClient client = scene.client(builder -> builder.observer(observer));
        InterProcessMutex mutex = new InterProcessMutex(client, PATH);
        AtomicInteger lost = new AtomicInteger();
        scene.start("holds", () -> {
            Lease lease = mutex.acquire();
            lease.onLost(lost::incrementAndGet);
            boolean isLost = PlayScene.endsAs(LockLostException.class, mutex::release);
            LeaseState ended = lease.ended().toCompletableFuture().get();
            check(isLost == (ended == LeaseState.LOST), "release() says lost: " + isLost + ", ended() " + ended);
            check(lease.state() == ended, "state() says " + lease.state() + ", ended() " + ended);
        });
        scene.start("ends the session", scene::expire);
        scene.expectFree(client);
        scene.closingTakesTime();
        check(lost.get() <= 1, "told " + lost + " times");
        observer.both.get(); // callbacks of one loss run in no particular order
        check(observer.ends.get() == 2, "2 leases had " + observer.ends + " ends");
    }

    private static void holdAtMost(PlayScene scene, Kind kind) throws InterruptedException, ExecutionException {
        ZooKeeperClient client = scene.client();
        Duration most = Duration.ofMillis(1);
        InterProcessLock mutex = kind.on(client, LockOptions.defaults().withHoldAtMost(most));
        Lease held = mutex.acquireAsync().get();
        scene.start("closes late", () -> {
            TimeUnit.NANOSECONDS.sleep(most.toNanos());
            held.close();
            PlayScene.expectOneEnd(held);
        });
        scene.start("waits", () -> {
            Lease lease = mutex.acquire();
            lease.close();
            PlayScene.expectOneEnd(lease);
        });
        scene.expectFree(client);
    }

    private static void revocation(PlayScene scene) throws InterruptedException, ExecutionException {
        ZooKeeperClient client = scene.client();
        Lease held = new InterProcessMutex(client, PATH).acquireAsync().get();
        held.onRevocationRequested(request -> {
            var unused = held.closeAsync();
        });
        ZooKeeperClient other = scene.client();
        scene.start("asks for it", () -> {
            for (Revocation asked : new Revoker(other).request(new InterProcessMutex(other, PATH))) {
                asked.outcome().get();
            }
        });
        scene.start("closes", held::close);
        scene.expectFree(other);
        PlayScene.expectOneEnd(held);
    }

    private static void revocationListeners(PlayScene scene) throws InterruptedException, ExecutionException {
        Lease held = new InterProcessMutex(scene.client(), PATH).acquireAsync().get();
        ZooKeeperClient other = scene.client();
        List<AtomicInteger> told = List.of(new AtomicInteger(), new AtomicInteger());
        List<CompletableFuture<Void>> each = List.of(new CompletableFuture<>(), new CompletableFuture<>());
        for (int i = 0; i < told.size(); i++) {
            int number = i;
            scene.start(
                    "listens " + i,
                    () -> held.onRevocationRequested(request -> {
                        told.get(number).incrementAndGet();
                        each.get(number).complete(null);
                    }));
        }
        List<Revocation> asked = new Revoker(other).request(new InterProcessMutex(other, PATH));
        for (CompletableFuture<Void> one : each) {
            one.get();
        }
        scene.joinAll();
        held.close();
        for (Revocation one : asked) {
            one.outcome().get();
        }
        check(told.stream().allMatch(times -> times.get() == 1), "told " + told + " times");
    }

    /** A thread re-enters while its outer hold is closed for it. It gets that grant, or another one. */
    private static void reentryAgainstTimer(PlayScene scene) throws InterruptedException {
        InterProcessMutex mutex = new InterProcessMutex(scene.client(), PATH);
        InterProcessMutex other = new InterProcessMutex(scene.client(), PATH);
        scene.start("re-enters", () -> {
            Lease outer = mutex.acquire();
            CompletableFuture<Void> closed = outer.closeAfter(Duration.ofNanos(20_000));
            Lease inner = mutex.acquire();
            check(inner.state() == LeaseState.HELD, "it is " + inner.state());
            scene.enter(inner);
            closed.get();
            check(mutex.holdCount() == 0, "it is recorded " + mutex.holdCount() + " times");
        });
        scene.start("elsewhere", () -> scene.enter(other.acquire()));
    }

    /** A thread asks for the read lock while its write lock is closed for it. It downgrades that lock, or queues. */
    private static void readAgainstClose(PlayScene scene) throws InterruptedException {
        InterProcessReadWriteLock lock = new InterProcessReadWriteLock(scene.client(), PATH);
        InterProcessReadWriteLock other = new InterProcessReadWriteLock(scene.client(), PATH);
        scene.start("reads", () -> {
            Lease written = lock.writeLock().acquire();
            CompletableFuture<Void> closed = written.closeAfter(Duration.ofNanos(20_000));
            Lease read = lock.readLock().acquire();
            check(read.state() == LeaseState.HELD, "it is " + read.state());
            scene.enter(read);
            closed.get();
        });
        scene.start("writes", () -> scene.enter(other.writeLock().acquire()));
    }

    private static final class Observer implements LockObserver {
        private final AtomicInteger released = new AtomicInteger();
        private final AtomicInteger ends = new AtomicInteger();
        private final CompletableFuture<Void> both = new CompletableFuture<>();

        private void end() {
            if (ends.incrementAndGet() == 2) {
                both.complete(null);
            }
        }

        @Override
        public Progress onWaiting(Request request) {
            return new Progress() {
                @Override
                public void onReleased(Duration held) {
                    released.incrementAndGet();
                    end();
                }

                @Override
                public void onLost(Duration held, String reason) {
                    end();
                }
            };
        }
    }
}
