// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.faults;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** One thread that goes in and out of rooms, one or several at a time, by locks of every recipe. */
final class Visitor {
    /** Each way in: a lock, the room behind it, and how much of it the holder takes up. */
    private record Way(InterProcessLock lock, Room room, int weight, boolean reentrant) {}

    private final House house;
    private final Random random;
    private final List<InterProcessMutex> mutexes = new ArrayList<>();
    private final List<InterProcessReadWriteLock> readWriteLocks = new ArrayList<>();
    private final InterProcessSemaphore semaphore;

    Visitor(House house, ZooKeeperClient client, long seed) {
        this.house = house;
        this.random = new Random(seed);
        for (int i = 0; i < House.MUTEXES; i++) {
            mutexes.add(new InterProcessMutex(client, House.mutexPath(i)));
        }
        for (int i = 0; i < House.READ_WRITE_LOCKS; i++) {
            readWriteLocks.add(new InterProcessReadWriteLock(client, House.readWritePath(i)));
        }
        semaphore = new InterProcessSemaphore(client, House.SEMAPHORE, House.PERMITS);
    }

    void visit() throws InterruptedException, ExecutionException {
        if (random.nextInt(5) == 0) {
            writeThenRead(random.nextInt(House.READ_WRITE_LOCKS));
            return;
        }
        List<Way> ways = ways();
        List<Way> chosen = ways.subList(0, random.nextInt(3) > 0 ? 1 : 2 + random.nextInt(3));
        InterProcessLock lock = chosen.size() == 1
                ? chosen.get(0).lock()
                : new InterProcessMultiLock(chosen.stream().map(Way::lock).toList());
        boolean async = random.nextInt(6) == 0;
        Optional<Lease> lease = async ? acquireAsync(lock) : acquire(lock);
        if (lease.isPresent()) {
            chosen.forEach(way -> way.room().enter(way.weight()));
            stay();
            if (!async && random.nextInt(10) == 0 && chosen.stream().allMatch(Way::reentrant)) {
                lock.acquire().close();
            }
            chosen.forEach(way -> way.room().leave(way.weight()));
            giveBack(lease.get());
        }
    }

    private List<Way> ways() {
        List<Way> ways = new ArrayList<>();
        for (int i = 0; i < House.MUTEXES; i++) {
            ways.add(new Way(mutexes.get(i), house.mutexRoom(i), 1, true));
        }
        for (int i = 0; i < House.READ_WRITE_LOCKS; i++) {
            ways.add(
                    random.nextInt(3) == 0
                            ? new Way(readWriteLocks.get(i).writeLock(), house.readWriteRoom(i), House.WRITER, true)
                            : new Way(readWriteLocks.get(i).readLock(), house.readWriteRoom(i), 1, true));
        }
        int permits = 1 + random.nextInt(House.PERMITS);
        ways.add(new Way(semaphore.permits(permits), house.semaphoreRoom(), permits, false));
        Collections.shuffle(ways, random);
        return ways;
    }

    private Optional<Lease> acquire(InterProcessLock lock) throws InterruptedException {
        try {
            return switch (random.nextInt(3)) {
                case 0 -> lock.tryAcquire();
                case 1 -> lock.tryAcquire(Duration.ofMillis(random.nextInt(400)));
                default -> Optional.of(lock.acquire());
            };
        } catch (LockConnectionException e) {
            return Optional.empty(); // a try, without a connection
        }
    }

    private Optional<Lease> acquireAsync(InterProcessLock lock) throws InterruptedException, ExecutionException {
        CompletableFuture<Lease> future = lock.acquireAsync();
        try {
            return Optional.of(future.get(random.nextInt(500), TimeUnit.MILLISECONDS));
        } catch (TimeoutException e) {
            return future.cancel(true) ? Optional.empty() : Optional.of(future.get());
        }
    }

    private void writeThenRead(int which) throws InterruptedException {
        InterProcessReadWriteLock lock = readWriteLocks.get(which);
        Room room = house.readWriteRoom(which);
        Lease writing = lock.writeLock().acquire();
        room.enter(House.WRITER);
        Lease reading = lock.readLock().acquire();
        room.shrink(House.WRITER, 1);
        giveBack(writing);
        stay();
        room.leave(1);
        giveBack(reading);
    }

    private void stay() throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(random.nextInt(5));
    }

    /** The sessions outlive every fault, so a lost lease is a violation, too. */
    private void giveBack(Lease lease) {
        if (lease.state() == LeaseState.LOST) {
            house.violations().add("lost " + lease.path());
        }
        if (random.nextBoolean()) {
            lease.close();
        } else {
            var unused = lease.closeAsync();
        }
        house.countVisit();
    }
}
