// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.lock.AdaptedLock;
import dev.zkrecipes.core.internal.lock.EngineLock;
import dev.zkrecipes.core.internal.queue.LockSpec;
import java.util.List;
import java.util.Objects;

/**
 * Creates locks of more than one driver: two modes of one lock, several locks as one, a lock of another library. For
 * one lock with one driver, {@link LockInternals} is enough.
 */
public final class LockGroups {
    private LockGroups() {}

    /**
     * Creates two modes of one lock, an exclusive one and a shared one. A thread may hold both. A thread that holds the
     * exclusive mode is granted the shared one at once, at the same place in the queue and with the same token (one
     * {@code multi} that checks the exclusive node and creates the shared one), and keeps it when it releases the
     * exclusive one. The reverse order is refused with {@link dev.zkrecipes.core.LockRefusedException}: two threads
     * that hold the shared mode would wait for each other forever.
     *
     * @param client the client to use
     * @param path absolute path of the lock, below the client's chroot
     * @param exclusive the driver of the mode that excludes all others; recognises the nodes of both modes
     * @param shared the driver of the other mode; recognises the nodes of both modes, and is at least as permissive:
     *     whenever {@code exclusive} grants, it grants too
     * @param options optional settings
     * @return new locks, both thread-owned
     * @throws IllegalArgumentException as the constructor of {@link LockInternals}
     */
    public static Modes modes(
            ZooKeeperClient client, String path, LockDriver exclusive, LockDriver shared, LockOptions options) {
        EngineClient engine = EngineClient.of(client);
        Objects.requireNonNull(exclusive, "exclusive");
        Objects.requireNonNull(shared, "shared");
        LockSpec exclusiveSpec =
                new LockInternals(client, path, exclusive, options).spec().withNodesInFront(shared.nodeName());
        LockSpec sharedSpec =
                new LockInternals(client, path, shared, options).spec().withNodesInFront(shared.nodeName());
        return new Modes(
                EngineLock.mode(engine, exclusiveSpec, sharedSpec, true),
                EngineLock.mode(engine, sharedSpec, exclusiveSpec, false));
    }

    /**
     * The two modes of one lock.
     *
     * @param exclusive the mode that excludes all others
     * @param shared the mode that many may hold together
     */
    public record Modes(InterProcessLock exclusive, InterProcessLock shared) {}

    /**
     * Combines several locks into one, held by threads and re-entrant as a whole. A request enters the queues of all
     * members by one {@code multi}, so that any two such requests have the same order on every path that they share.
     *
     * <p>A thread that holds all members, together or individually, re-enters at once. If the thread holds some members
     * but not all, or holds one in another mode or by another lock on the same path, the request is refused with
     * {@link dev.zkrecipes.core.LockRefusedException}: it could wait for itself.
     *
     * @param members locks created by {@link LockInternals}, or {@link DelegatingLock}s on such locks; of one client,
     *     each on a path of its own
     * @param options optional settings
     * @return a new lock; its path is the members' paths, separated by commas
     * @throws IllegalArgumentException if there are no members or too many, one is not a lock of the engine, two have
     *     the same path, or they are not of one client
     */
    public static InterProcessLock together(List<? extends InterProcessLock> members, LockOptions options) {
        Objects.requireNonNull(members, "members");
        Objects.requireNonNull(options, "options");
        return EngineLock.together(members.stream().map(LockGroups::engineLock).toList(), options);
    }

    /**
     * Adapts a lock of another library. The new lock is held by threads, and re-entrant for the thread that holds it.
     * What the {@link ForeignLock} and its holds do not implement throws {@link UnsupportedOperationException}.
     *
     * @param lock the adapter of the other library's lock
     * @return a new lock, with holds of its own
     */
    public static InterProcessLock foreign(ForeignLock lock) {
        return AdaptedLock.of(Objects.requireNonNull(lock, "lock"));
    }

    static EngineLock engineLock(InterProcessLock lock) {
        return EngineLock.behind(lock)
                .orElseThrow(() -> new IllegalArgumentException("not a lock of this engine: " + lock));
    }
}
