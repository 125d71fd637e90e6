// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import com.google.common.base.Preconditions;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.DelegatingLock;
import dev.zkrecipes.core.spi.LockGroups;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockParts;
import dev.zkrecipes.core.spi.MutexDriver;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * Several locks as one: either all are held, or none.
 *
 * <pre>{@code
 * InterProcessMultiLock both = new InterProcessMultiLock(client, List.of("/accounts/7", "/accounts/9"));
 * try (MultiLease lease = both.acquire()) {
 *     transfer(7, 9, lease.fencingToken());
 * }
 * }</pre>
 *
 * <p><b>Members.</b> Mutexes, given by their paths, or any locks: mutexes, read or write locks, permits of a semaphore,
 * locks with a driver of your own, and locks of other libraries. Of one client there may be up to 500 members, with
 * paths of up to 100,000 characters in all. For a lock of another library, write a
 * {@link dev.zkrecipes.core.spi.ForeignLock} and make a member of it with {@link LockGroups#foreign}. Adapters for
 * Curator's locks are in {@code recipes-curator}.
 *
 * <p><b>No deadlock among requests that ask for everything at once.</b> Members that this library created on one client
 * enter by one {@code multi}, so any two such requests are in the same order on every path that they share, in whatever
 * order they name the paths. A request then waits until it is granted on every path. It is one acquire: there is one
 * deadline for all, and if somebody deletes the node of one member, all leave and enter again together.
 *
 * <p><b>Easy to get wrong: asking while holding.</b> A thread that holds one lock and requests a multi-lock, or holds a
 * multi-lock and requests one more lock, can deadlock with another thread that does the same, even if all threads name
 * the paths in one fixed order: the other thread's request may be in front on one path while it waits for what this
 * thread holds on another. Use one multi-lock for everything, or a time-out. If the thread itself holds some but not
 * all members, its request is refused with {@link dev.zkrecipes.core.LockRefusedException}.
 *
 * <p><b>Members of other libraries or of another client</b> cannot enter in the same {@code multi}. The multi-lock
 * never waits while it holds anything: it waits for one member and tries the others. If one is busy, it releases all
 * and, after a pause, waits for the busy one first. So such a multi-lock has no place in a queue and may be overtaken
 * for a long time under load. A member whose client has no connection is waited for like a busy one; only
 * {@link #tryAcquire()} fails then. {@link #acquireAsync()} is not supported: the leases of such members belong to the
 * thread that tries them. Two members on one path, by two clients of one ensemble, are the same lock: such a request
 * never gets both.
 *
 * <p><b>Fairness:</b> that of the members, if all enter together. <b>Re-entrancy:</b> as a whole; a thread that holds
 * the multi-lock holds each member, so it can also re-enter a re-entrant member. <b>Ownership:</b> a hold belongs to
 * its thread. <b>Session loss:</b> the lease has the worst state of its members' leases; if one is lost, the lease is
 * lost, and closing it releases the others.
 *
 * <p><b>Fencing:</b> one token, if all members enter together; otherwise one for each path, see
 * {@link MultiLease#fencingTokens()}, and the paths must differ. {@link MultiLease#guards()} has a check for each
 * member. Every lease of a multi-lock is a {@link MultiLease}.
 *
 * <p>Instances are thread-safe.
 */
public final class InterProcessMultiLock extends DelegatingLock {
    private final InterProcessLock lock;

    /**
     * Creates a lock of several mutexes. Sends nothing.
     *
     * @param client the client to use
     * @param paths absolute paths, below the client's chroot; created on first use
     * @throws IllegalArgumentException if there are none or too many, one is not a valid absolute path, or one is named
     *     twice
     */
    public InterProcessMultiLock(ZooKeeperClient client, List<String> paths) {
        this(client, paths, LockOptions.defaults());
    }

    /**
     * Creates a lock of several mutexes. Sends nothing.
     *
     * @param client the client to use
     * @param paths absolute paths, below the client's chroot; created on first use
     * @param options optional settings
     * @throws IllegalArgumentException if there are none or too many, one is not a valid absolute path, or one is named
     *     twice
     */
    public InterProcessMultiLock(ZooKeeperClient client, List<String> paths, LockOptions options) {
        this(mutexes(client, paths, options), options);
    }

    /**
     * Creates a lock of several locks. Sends nothing.
     *
     * @param members the locks, on different paths; none of them a multi-lock
     * @throws IllegalArgumentException if there are none or too many, two have the same path on one client, or one is a
     *     multi-lock
     */
    public InterProcessMultiLock(List<? extends InterProcessLock> members) {
        this(members, LockOptions.defaults());
    }

    /**
     * Creates a lock of several locks. Sends nothing.
     *
     * @param members the locks, on different paths; none of them a multi-lock
     * @param options optional settings for the members that enter together, in place of their own. Of a member's own
     *     options, the ACL and the owner label stay in force, and so does a shorter limit to the time of a hold.
     *     {@link LockOptions#withHoldAtMost} also releases the members of other libraries and other clients
     * @throws IllegalArgumentException if there are none or too many, two have the same path on one client, one is a
     *     multi-lock, the options name an ACL that is not the members' own, or they limit the time of a hold and no
     *     member is of a client of this library, whose timer would measure it
     */
    public InterProcessMultiLock(List<? extends InterProcessLock> members, LockOptions options) {
        Objects.requireNonNull(members, "members");
        Objects.requireNonNull(options, "options");
        Preconditions.checkArgument(!members.isEmpty(), "a multi-lock needs at least one member");
        List<InterProcessLock> parts = parts(members, options);
        this.lock = parts.size() == 1 && LockParts.joinable(members.get(0)).isPresent()
                ? parts.get(0)
                : LockParts.foreign(new MixedLock(parts), parts, options);
    }

    private static List<InterProcessLock> mutexes(ZooKeeperClient client, List<String> paths, LockOptions options) {
        Objects.requireNonNull(client, "client");
        Objects.requireNonNull(paths, "paths");
        return paths.stream()
                .map(path -> new LockInternals(client, path, new MutexDriver(), options).threadOwned())
                .toList();
    }

    /** Returns one part for all members of each client, and one for each member that is not of this library. */
    private static List<InterProcessLock> parts(List<? extends InterProcessLock> members, LockOptions options) {
        Map<Object, List<InterProcessLock>> byClient = new LinkedHashMap<>();
        Set<InterProcessLock> foreign = new HashSet<>();
        for (InterProcessLock member : members) {
            Preconditions.checkArgument(
                    !(member instanceof InterProcessMultiLock),
                    "the multi-lock %s cannot be a member of another one: name its members",
                    member.path());
            Optional<Object> client = LockParts.joinable(member);
            Preconditions.checkArgument(
                    client.isPresent() || foreign.add(member), "the lock %s is named twice", member.path());
            Preconditions.checkArgument(
                    client.isPresent() || options.acl().isEmpty(),
                    "the lock %s was not created by this library, so the multi-lock cannot give it an ACL",
                    member.path());
            byClient.computeIfAbsent(client.isPresent() ? client.get() : member, key -> new ArrayList<>())
                    .add(member);
        }
        return byClient.values().stream()
                .map(group -> foreign.contains(group.get(0)) ? group.get(0) : LockGroups.together(group, options))
                .toList();
    }

    @Override
    public MultiLease acquire() throws InterruptedException {
        return (MultiLease) lock.acquire();
    }

    @Override
    protected InterProcessLock delegate() {
        return lock;
    }

    @Override
    public String toString() {
        return "InterProcessMultiLock[" + lock + "]";
    }
}
