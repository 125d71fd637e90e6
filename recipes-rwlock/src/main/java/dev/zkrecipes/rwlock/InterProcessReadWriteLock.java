// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.rwlock;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockGroups;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;

/**
 * A re-entrant read-write lock that processes share: any number of readers hold it together, or one writer holds it
 * alone.
 *
 * <pre>{@code
 * InterProcessReadWriteLock catalogue = new InterProcessReadWriteLock(client, "/locks/catalogue");
 * try (Lease writing = catalogue.writeLock().acquire()) {
 *     update();
 *     try (Lease reading = catalogue.readLock().acquire()) { // at once: the downgrade
 *         writing.close();
 *         publish();
 *     }
 * }
 * }</pre>
 *
 * <p><b>Fairness:</b> readers and writers wait in one queue, in the order in which ZooKeeper numbers the requests. A
 * reader waits for the nearest writer in front of it, a writer for all requests in front of it. So a reader that comes
 * after a waiting writer does not overtake it, and neither side starves.
 *
 * <p><b>Re-entrancy:</b> a thread acquires again what it holds. <b>Downgrade:</b> the thread that holds the write lock
 * acquires the read lock at once, even while others wait, and keeps it when it releases the write lock: no queued
 * writer gets in between, and the fencing token stays the same. <b>Upgrade:</b> if a thread that holds only the read
 * lock requests the write lock, it is refused at once with {@link dev.zkrecipes.core.LockRefusedException}, whichever
 * method it calls, even through {@link #asReadWriteLock()}: two such threads would wait for each other forever. Leases
 * of {@link InterProcessLock#acquireAsync()} belong to no thread, so they are never re-entrant. They are neither
 * downgraded nor refused as upgrades: they queue.
 *
 * <p><b>Ownership:</b> a hold belongs to its thread. <b>Session loss:</b> all holds are lost, and the lock is free for
 * others. A thread that has lost the write lock does not get the read lock until it has released the lost hold.
 *
 * <p><b>Fencing:</b> a token is greater than those of all earlier holders that it conflicts with. Readers that hold
 * together have different tokens in no meaningful order. So a store may refuse only tokens below the greatest token of
 * a writer that it has seen.
 *
 * <p>Its nodes have the names and the order of Apache Curator 5.x, so locks of both libraries exclude each other on one
 * path. Instances are thread-safe. A thread that holds the lock holds it through every instance on the same path and
 * client, so the downgrade and the refused upgrade also work through another instance.
 */
public final class InterProcessReadWriteLock {
    private final InterProcessLock readLock;
    private final InterProcessLock writeLock;

    /**
     * Creates a lock on a path. Sends nothing.
     *
     * @param client the client to use
     * @param path absolute path of the lock, below the client's chroot; created on first use
     * @throws IllegalArgumentException if the path is not a valid absolute path
     */
    public InterProcessReadWriteLock(ZooKeeperClient client, String path) {
        this(client, path, LockOptions.defaults());
    }

    /**
     * Creates a lock on a path. Sends nothing.
     *
     * @param client the client to use
     * @param path absolute path of the lock, below the client's chroot; created on first use
     * @param options optional settings
     * @throws IllegalArgumentException if the path is not a valid absolute path
     */
    public InterProcessReadWriteLock(ZooKeeperClient client, String path, LockOptions options) {
        LockGroups.Modes modes = LockGroups.modes(client, path, ReadWriteDriver.WRITE, ReadWriteDriver.READ, options);
        this.readLock = modes.shared();
        this.writeLock = modes.exclusive();
    }

    /**
     * Returns the path of the lock, below the chroot if there is one.
     *
     * @return the absolute path
     */
    public String path() {
        return readLock.path();
    }

    /**
     * Returns the lock that any number of readers may hold together.
     *
     * @return the same lock at every call
     */
    public InterProcessLock readLock() {
        return readLock;
    }

    /**
     * Returns the lock that one writer holds alone.
     *
     * @return the same lock at every call
     */
    public InterProcessLock writeLock() {
        return writeLock;
    }

    /**
     * Returns the holders and waiters of the lock, readers and writers, in the order of the queue, as one read of the
     * server shows them. A writer that has downgraded is listed as both until it releases the write lock.
     *
     * @return the participants, whose mode {@link #isWriter} returns; empty if there are none or the path does not
     *     exist
     * @throws InterruptedException if the thread is interrupted on entry or while it waits
     * @throws dev.zkrecipes.core.LockConnectionException if there is no connection, or no answer within the request
     *     time-out
     * @throws dev.zkrecipes.core.LockException if ZooKeeper refuses the request
     * @throws IllegalStateException if called on ZooKeeper's event thread
     */
    public List<Participant> participants() throws InterruptedException {
        return readLock.participants();
    }

    /**
     * Whether a participant of a read-write lock requests or holds the write lock.
     *
     * @param participant one of {@link #participants()}
     * @return true for a writer, false for a reader
     * @throws IllegalArgumentException if it is not a participant of a read-write lock
     */
    public static boolean isWriter(Participant participant) {
        Objects.requireNonNull(participant, "participant");
        if (participant.kind().equals(ReadWriteDriver.WRITE.nodeName())) {
            return true;
        } else if (participant.kind().equals(ReadWriteDriver.READ.nodeName())) {
            return false;
        }
        throw new IllegalArgumentException("not a participant of a read-write lock: " + participant);
    }

    /**
     * Returns this lock as a {@link ReadWriteLock}; see {@link InterProcessLock#asLock()}.
     *
     * @return a view; a hold acquired through it is also a hold of this lock, and the other way round
     */
    public ReadWriteLock asReadWriteLock() {
        return new View(readLock.asLock(), writeLock.asLock());
    }

    private record View(Lock readLock, Lock writeLock) implements ReadWriteLock {}

    @Override
    public String toString() {
        return "InterProcessReadWriteLock[write: " + writeLock + "; read: " + readLock + "]";
    }
}
