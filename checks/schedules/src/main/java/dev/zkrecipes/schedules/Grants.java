// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.schedules;

import static dev.zkrecipes.schedules.PlayScene.PATH;
import static dev.zkrecipes.schedules.PlayScene.check;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.handoff.HandoffMutex;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.mutex.InterProcessSemaphoreMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.schedules.PlayScene.Kind;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Plays in which requests are granted, or end without a grant. */
final class Grants {
    static final List<Play> ALL = List.of(
            new Play("acquire-and-close", scene -> contend(scene, Kind::strict)),
            new Play("acquire-and-close-of-two-clients", Grants::twoClients),
            new Play("release-in-background-then-acquire", Grants::releaseInBackground),
            new Play("hand-off", scene -> contend(scene, Kind.passedOn(10))),
            new Play("hand-off-once", scene -> contend(scene, Kind.passedOn(1))),
            new Play("kept", scene -> contend(scene, Kind::kept)),
            new Play("kept-against-another-client", Grants::keptAndWanted),
            new Play("cancel-against-release", scene -> cancel(scene, Kind::strict)),
            new Play("cancel-against-hand-off", scene -> cancel(scene, Kind.passedOn(10))),
            new Play("cancel-against-kept", scene -> cancel(scene, Kind::kept)),
            new Play("interrupt-against-release", scene -> interrupt(scene, Kind::strict)),
            new Play("interrupt-against-hand-off", scene -> interrupt(scene, Kind.passedOn(10))),
            new Play("interrupt-against-kept", scene -> interrupt(scene, Kind::kept)),
            new Play("timed-against-release", scene -> timed(scene, Kind::strict)),
            new Play("timed-against-hand-off", scene -> timed(scene, Kind.passedOn(10))),
            new Play("timed-against-kept", scene -> timed(scene, Kind::kept)),
            new Play("try-against-release", Grants::tryOnce),
            new Play("cancel-against-completion", Grants::cancelOrComplete),
            new Play("downgrade-against-writer", Grants::downgrade),
            new Play("resize-against-acquire", Grants::resize),
            new Play("kept-time-against-acquire", Grants::keptForAMoment),
            new Play("kept-against-session-end", Grants::keptAndLost),
            new Play("release-of-two-threads", Grants::releaseTwice));

    private Grants() {}

    private static void contend(PlayScene scene, Kind kind) throws InterruptedException {
        InterProcessLock mutex = kind.on(scene.client(), LockOptions.defaults());
        for (int i = 0; i < 3; i++) {
            scene.start("thread " + i, () -> scene.enter(mutex.acquire()));
        }
        scene.joinAll();
        int created = scene.server().created();
        check(created <= 3, "3 requests made " + created + " nodes");
    }

    private static void twoClients(PlayScene scene) throws InterruptedException {
        InterProcessMutex first = new InterProcessMutex(scene.client(), PATH);
        InterProcessMutex second = new InterProcessMutex(scene.client(), PATH);
        scene.start("first", () -> scene.enter(first.acquire()));
        scene.start("second", () -> scene.enter(second.acquire()));
    }

    private static void keptAndWanted(PlayScene scene) throws InterruptedException {
        InterProcessLock kept = Kind.kept(scene.client(), LockOptions.defaults());
        InterProcessMutex other = new InterProcessMutex(scene.client(), PATH);
        for (int i = 0; i < 2; i++) {
            scene.start("thread " + i, () -> {
                scene.enter(kept.acquire());
                kept.tryAcquire().ifPresent(scene::enter);
            });
        }
        scene.start("elsewhere", () -> scene.enter(other.acquire()));
    }

    private static void releaseInBackground(PlayScene scene) throws InterruptedException {
        InterProcessMutex mutex = new InterProcessMutex(
                scene.client(), PATH, LockOptions.defaults().withReleaseInBackground());
        for (int i = 0; i < 2; i++) {
            scene.start("thread " + i, () -> {
                scene.enter(mutex.acquire());
                scene.enter(mutex.acquire());
            });
        }
    }

    private static void cancel(PlayScene scene, Kind kind) throws InterruptedException, ExecutionException {
        ZooKeeperClient client = scene.client();
        InterProcessLock mutex = kind.on(client, LockOptions.defaults());
        Lease held = mutex.acquireAsync().get();
        scene.start("cancels", () -> {
            CompletableFuture<Lease> asked = mutex.acquireAsync();
            if (!asked.cancel(false)) {
                scene.enter(asked.get());
            }
        });
        scene.start("releases", held::close);
        scene.expectFree(client);
        int created = scene.server().created();
        check(created <= 3, "3 requests made " + created + " nodes");
    }

    private static void interrupt(PlayScene scene, Kind kind) throws InterruptedException, ExecutionException {
        ZooKeeperClient client = scene.client();
        InterProcessLock mutex = kind.on(client, LockOptions.defaults());
        Lease held = mutex.acquireAsync().get();
        PlayScene.Actor waiter = scene.start("waits", () -> {
            boolean ended = PlayScene.endsAs(InterruptedException.class, () -> scene.enter(mutex.acquire()));
            check(!ended || !Thread.currentThread().isInterrupted(), "the flag is set although the call has told");
        });
        scene.start("releases", held::close);
        waiter.interrupt();
        scene.joinAll();
        scene.expectFree(client);
    }

    private static void timed(PlayScene scene, Kind kind) throws InterruptedException, ExecutionException {
        ZooKeeperClient client = scene.client();
        InterProcessLock mutex = kind.on(client, LockOptions.defaults());
        Lease held = mutex.acquireAsync().get();
        scene.start(
                "waits",
                () -> PlayScene.endsAs( // the time is too short to always see whether the lock is busy
                        LockConnectionException.class,
                        () -> mutex.tryAcquire(Duration.ofNanos(400_000)).ifPresent(scene::enter)));
        scene.start("releases", held::close);
        scene.expectFree(client);
    }

    private static void tryOnce(PlayScene scene) throws InterruptedException, ExecutionException {
        ZooKeeperClient client = scene.client();
        InterProcessMutex mutex = new InterProcessMutex(client, PATH);
        Lease held = mutex.acquireAsync().get();
        scene.start("tries", () -> mutex.tryAcquire().ifPresent(scene::enter));
        scene.start("waits", () -> scene.enter(mutex.acquire()));
        scene.start("releases", held::close);
        scene.expectFree(client);
    }

    private static void cancelOrComplete(PlayScene scene) throws InterruptedException {
        ZooKeeperClient client = scene.client();
        InterProcessMutex mutex = new InterProcessMutex(client, PATH);
        CompletableFuture<Lease> asked = mutex.acquireAsync();
        scene.start("cancels", () -> asked.cancel(false));
        scene.start("waits", () -> PlayScene.endsAs(CancellationException.class, () -> scene.enter(asked.get())));
        scene.expectFree(client);
    }

    private static void downgrade(PlayScene scene) throws InterruptedException {
        ZooKeeperClient client = scene.client();
        InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, PATH);
        InterProcessReadWriteLock other = new InterProcessReadWriteLock(scene.client(), PATH);
        scene.start("downgrades", () -> {
            Lease written = lock.writeLock().acquire();
            Lease read = lock.readLock().acquire();
            check(read.fencingToken() == written.fencingToken(), "another token");
            written.close();
            scene.enter(read);
        });
        scene.start("writes", () -> scene.enter(other.writeLock().acquire()));
    }

    private static void resize(PlayScene scene) throws InterruptedException, ExecutionException {
        ZooKeeperClient client = scene.client();
        InterProcessSemaphore semaphore = new InterProcessSemaphore(client, PlayScene.OF_SEMAPHORE, 1);
        Lease held = semaphore.acquireAsync().get();
        scene.start("waits", () -> semaphore.acquire().close());
        scene.start("resizes", () -> semaphore.resize(2));
        scene.joinAll(); // the waiter has been granted beside the holder
        held.close();
        Optional<Lease> both = semaphore.tryAcquire(2);
        check(both.isPresent(), "two permits are free");
        both.ifPresent(Lease::close);
    }

    /** The time of a kept lease is over while a thread of the process asks for it. */
    private static void keptForAMoment(PlayScene scene) throws InterruptedException {
        Duration moment = Duration.ofMillis(1);
        InterProcessLock kept = new HandoffMutex(scene.client(), PATH, 10).keepFor(moment);
        InterProcessMutex other = new InterProcessMutex(scene.client(), PATH);
        scene.start("uses it twice", () -> {
            scene.enter(kept.acquire());
            TimeUnit.NANOSECONDS.sleep(moment.toNanos());
            Lease again = kept.acquire();
            check(again.state() == LeaseState.HELD, "it is " + again.state());
            scene.enter(again);
        });
        scene.start("elsewhere", () -> {
            TimeUnit.NANOSECONDS.sleep(moment.toNanos());
            scene.enter(other.acquire());
        });
    }

    /** The session of a kept lease ends. Whoever has heard of that gets another lease. */
    private static void keptAndLost(PlayScene scene) throws InterruptedException, ExecutionException {
        ZooKeeperClient client = scene.client();
        InterProcessLock kept = Kind.kept(client, LockOptions.defaults());
        kept.acquire().close();
        CompletableFuture<Void> told = new CompletableFuture<>();
        client.addConnectionListener(state -> {
            if (state == ConnectionState.EXPIRED) {
                told.complete(null);
            }
        });
        scene.closingTakesTime();
        scene.start("asks", () -> {
            Lease lease = kept.acquire();
            lease.close();
            PlayScene.expectOneEnd(lease);
        });
        scene.start("ends the session", scene::expire);
        told.get();
        Lease last = kept.acquire();
        check(last.state() == LeaseState.HELD, "it is " + last.state());
        last.close();
    }

    /** Any thread may release a lock that its instance holds, and only one of two threads does. */
    private static void releaseTwice(PlayScene scene) throws InterruptedException {
        ZooKeeperClient client = scene.client();
        InterProcessSemaphoreMutex mutex = new InterProcessSemaphoreMutex(client, PATH);
        mutex.acquire();
        AtomicInteger refused = new AtomicInteger();
        for (int i = 0; i < 2; i++) {
            scene.start("releases " + i, () -> {
                if (PlayScene.endsAs(IllegalMonitorStateException.class, mutex::release)) {
                    refused.incrementAndGet();
                }
            });
        }
        scene.expectFree(client);
        check(refused.get() == 1, refused + " of two were refused");
    }
}
