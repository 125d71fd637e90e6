// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.versions;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.Revocation;
import dev.zkrecipes.core.RevocationOutcome;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.ZooKeeper;

/** A small program that sees a little of everything. It uses nothing but the JDK, the recipes and ZooKeeper's client. */
final class Tour {
    private static final Duration LIMIT = Duration.ofSeconds(120);

    private static final Duration A_WHILE = Duration.ofSeconds(5);
    private static final int TRIES = 5;

    private final String connectString;
    private final ZooKeeperClient one;
    private final ZooKeeperClient other;

    private Tour(String connectString, ZooKeeperClient one, ZooKeeperClient other) {
        this.connectString = connectString;
        this.one = one;
        this.other = other;
    }

    /** Argument: the connect string of an empty server. */
    public static void main(String[] args) throws Exception {
        run(args[0]);
        System.out.println("seen all");
    }

    static void run(String connectString) throws Exception {
        try (ZooKeeperClient one = ZooKeeperClient.connect(connectString);
                ZooKeeperClient other = ZooKeeperClient.connect(connectString)) {
            require(one.awaitConnected(LIMIT) && other.awaitConnected(LIMIT), "connected");
            Tour tour = new Tour(connectString, one, other);
            tour.acquire();
            tour.contend();
            tour.share();
            tour.semaphore();
            tour.multiLock();
            tour.revoke();
            tour.expire();
        }
    }

    private void acquire() throws InterruptedException {
        InterProcessMutex mutex = new InterProcessMutex(one, "/tour/mutex");
        long first;
        try (Lease lease = mutex.acquire()) {
            first = lease.fencingToken();
            awaitValid(lease);
            lease.verify();
            require(mutex.participants().size() == 1, "one participant");
        }
        try (Lease lease = mutex.tryAcquire().orElseThrow()) {
            require(lease.fencingToken() > first, "a larger token");
        }
    }

    private void contend() throws Exception {
        InterProcessMutex mine = new InterProcessMutex(one, "/tour/contended");
        InterProcessMutex theirs = new InterProcessMutex(other, "/tour/contended");
        Lease held = mine.acquire();
        require(theirs.tryAcquire().isEmpty(), "busy");
        CompletableFuture<Lease> next = theirs.acquireAsync();
        held.close();
        get(next).close();
    }

    private void share() throws Exception {
        InterProcessReadWriteLock mine = new InterProcessReadWriteLock(one, "/tour/shared");
        InterProcessReadWriteLock theirs = new InterProcessReadWriteLock(other, "/tour/shared");
        Lease reading = mine.readLock().acquire();
        theirs.readLock().tryAcquire().orElseThrow().close();
        CompletableFuture<Lease> writing = theirs.writeLock().acquireAsync();
        reading.close();
        get(writing).close();
    }

    private void semaphore() throws Exception {
        InterProcessSemaphore mine = new InterProcessSemaphore(one, "/tour/semaphore", 3);
        InterProcessSemaphore theirs = new InterProcessSemaphore(other, "/tour/semaphore", 3);
        try (Lease two = mine.acquire(2)) {
            require(mine.availablePermits() == 1, "one permit left");
            CompletableFuture<Lease> next = theirs.acquireAsync(2);
            mine.resize(4);
            get(next).close();
            awaitValid(two);
        }
        mine.resize(3); // as another tour finds it
    }

    private void multiLock() throws Exception {
        List<String> paths = List.of("/tour/a", "/tour/b");
        InterProcessMultiLock mine = new InterProcessMultiLock(one, paths);
        InterProcessMultiLock theirs = new InterProcessMultiLock(other, paths);
        Lease both = mine.acquire();
        require(theirs.tryAcquire().isEmpty(), "busy");
        CompletableFuture<Lease> next = theirs.acquireAsync();
        both.close();
        get(next).close();
    }

    private void revoke() throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(one, "/tour/revoked");
        Revoker revoker = new Revoker(other);
        Lease obedient = get(mutex.acquireAsync());
        obedient.onRevocationRequested(request -> obedient.close());
        require(outcome(revoker.request(mutex)) == RevocationOutcome.GIVEN_BACK, "given back");
        Lease stubborn = get(mutex.acquireAsync());
        CompletableFuture<LeaseState> lost = stubborn.ended().toCompletableFuture();
        stubborn.onRevocationRequested(request -> {});
        require(outcome(revoker.withGrace(Duration.ZERO).request(mutex)) == RevocationOutcome.BROKEN, "broken");
        require(get(lost) == LeaseState.LOST, "lost");
    }

    private static RevocationOutcome outcome(List<Revocation> revocations) throws Exception {
        return get(revocations.get(0).outcome());
    }

    /** The end of one session, as another handle closes it: the next in the queue is granted, and the client goes on. */
    private void expire() throws Exception {
        InterProcessLock mutex = new InterProcessMutex(one, "/tour/expired");
        Lease held = get(mutex.acquireAsync());
        CompletableFuture<Lease> next = new InterProcessMutex(other, "/tour/expired").acquireAsync();
        ZooKeeper handle = one.zooKeeper().orElseThrow();
        Optional<Lease> granted = Optional.empty();
        for (int tries = 0; tries < TRIES && granted.isEmpty(); tries++) {
            closeSessionOf(handle);
            granted = within(A_WHILE, next);
        }
        granted.orElseThrow().close();
        require(get(held.ended().toCompletableFuture()) == LeaseState.LOST, "lost");
        mutex.tryAcquire(LIMIT).orElseThrow().close();
    }

    /** In vain, if the client takes its session back before the other handle's request to close it has arrived. */
    private void closeSessionOf(ZooKeeper handle) throws Exception {
        CompletableFuture<Void> connected = new CompletableFuture<>();
        try (ZooKeeper same = new ZooKeeper(
                connectString,
                handle.getSessionTimeout(),
                event -> connected.complete(null),
                handle.getSessionId(),
                handle.getSessionPasswd())) {
            get(connected);
        }
    }

    private static <T> Optional<T> within(Duration limit, CompletableFuture<T> future) throws Exception {
        try {
            return Optional.of(future.get(limit.toMillis(), TimeUnit.MILLISECONDS));
        } catch (TimeoutException e) {
            return Optional.empty();
        }
    }

    /** A lease is not, for a moment, after the machine has stood still. */
    private static void awaitValid(Lease lease) throws InterruptedException {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (!lease.isValid()) {
            require(System.nanoTime() - end < 0, "valid");
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    private static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    private static void require(boolean truth, String what) {
        if (!truth) {
            throw new AssertionError("not " + what);
        }
    }
}
