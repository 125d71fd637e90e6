// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import dev.zkrecipes.core.internal.wire.Acls;
import dev.zkrecipes.core.internal.wire.OwnerLabel;
import dev.zkrecipes.core.internal.wire.Printable;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Pattern;
import org.apache.zookeeper.data.ACL;

/**
 * Optional settings of a lock. Immutable; start from {@link #defaults()}.
 *
 * <p>A lock with its own ACL creates its path, any missing nodes above it, and its nodes with that ACL. On the first
 * use of a path in a session it compares the path's ACL with its own, and again whenever the path was recreated
 * or its ACL was changed. A path with other rights is refused with {@link LockAccessException}. Protect the node above:
 * a client that may create and delete there can replace a path that is empty.
 *
 * <pre>{@code
 * LockOptions options = LockOptions.defaults().withAcl(ZooDefs.Ids.CREATOR_ALL_ACL);
 * InterProcessMutex mutex = new InterProcessMutex(client, "/locks/orders", options);
 * }</pre>
 *
 * @param queueLossPolicy what a waiting acquire does when its place in the queue is gone
 * @param acl who may do what with the lock; empty for the ACL of the client
 * @param releasesInBackground whether a release returns without waiting for ZooKeeper, see {@link #releaseInBackground}
 * @param holdAtMost after what time a lease is lost if it is not given back, see {@link #holdAtMost(Duration)}; empty
 *     for never
 * @param ownerLabel what others see as the owner of the lock's nodes, see {@link #ownerLabel(String)}; empty for the
 *     client's
 * @param name what the application calls the lock in metrics and logs, see {@link #name(String)}; empty for nothing
 */
public record LockOptions(
        QueueLossPolicy queueLossPolicy,
        Optional<List<ACL>> acl,
        boolean releasesInBackground,
        Optional<Duration> holdAtMost,
        Optional<String> ownerLabel,
        Optional<String> name) {

    private static final Duration SHORTEST_HOLD = Duration.ofMillis(1);
    private static final Duration LONGEST_HOLD = Duration.ofDays(36_500);
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:-]{1,80}");

    private static final LockOptions DEFAULTS = new LockOptions(QueueLossPolicy.REQUEUE);

    /**
     * Makes options.
     *
     * @param queueLossPolicy what a waiting acquire does when its place in the queue is gone
     * @param acl who may do what with the lock; empty for the ACL of the client
     * @param releasesInBackground whether a release returns without waiting for ZooKeeper
     * @param holdAtMost after what time a lease is lost if it is not given back; empty for never
     * @param ownerLabel what others see as the owner of the lock's nodes; empty for that of the client
     * @param name what the application calls the lock in metrics and logs; empty for nothing
     * @throws IllegalArgumentException as {@link #withAcl}, {@link #holdAtMost(Duration)}, {@link #ownerLabel(String)}
     *     and {@link #name(String)}
     */
    public LockOptions {
        Objects.requireNonNull(queueLossPolicy, "queueLossPolicy");
        acl = acl.map(Acls::check);
        holdAtMost.ifPresent(LockOptions::checkHold);
        ownerLabel.ifPresent(OwnerLabel::check);
        name.ifPresent(LockOptions::checkName);
    }

    private static void checkHold(Duration most) {
        if (most.compareTo(SHORTEST_HOLD) < 0 || most.compareTo(LONGEST_HOLD) > 0) {
            throw new IllegalArgumentException(
                    "holdAtMost is " + most + ", must be from 1 millisecond to 36500 days; leave it out for no limit");
        }
    }

    /**
     * Makes options of a lock that is always released to ZooKeeper, with its confirmation.
     *
     * @param queueLossPolicy what a waiting acquire does when its place in the queue is gone
     * @param acl who may do what with the lock; empty for the ACL of the client
     * @throws IllegalArgumentException as {@link #withAcl}
     */
    public LockOptions(QueueLossPolicy queueLossPolicy, Optional<List<ACL>> acl) {
        this(queueLossPolicy, acl, false, Optional.empty(), Optional.empty(), Optional.empty());
    }

    /**
     * Makes options of a lock with the ACL of its client.
     *
     * @param queueLossPolicy what a waiting acquire does when its place in the queue is gone
     */
    public LockOptions(QueueLossPolicy queueLossPolicy) {
        this(queueLossPolicy, Optional.empty());
    }

    /**
     * The default options: {@link QueueLossPolicy#REQUEUE}, the ACL of the client, a release that
     * waits for ZooKeeper's confirmation, and one strict order of all waiters, whatever process they belong to.
     *
     * @return the default options
     */
    public static LockOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Who may do what with the lock.
     *
     * @return a copy of the ACL; empty for that of the client
     */
    @Override
    public Optional<List<ACL>> acl() {
        return acl.map(Acls::copy);
    }

    /**
     * These options with another queue-loss policy.
     *
     * @param policy what a waiting acquire does when its place in the queue is gone
     * @return the changed copy
     */
    public LockOptions withQueueLossPolicy(QueueLossPolicy policy) {
        return new LockOptions(policy, acl, releasesInBackground, holdAtMost, ownerLabel, name);
    }

    /**
     * These options with an ACL for the lock, instead of the client's. All contenders need READ, CREATE and DELETE.
     * With ADMIN they can see, when the path is compared, whether it names the same passwords and not just the same
     * users.
     *
     * @param rights who may do what; not empty. An entry of the scheme {@code digest} contains the hash of a password,
     *     never the password
     * @return the changed copy
     * @throws IllegalArgumentException if the list is empty, has an entry that is null or malformed, or grants nobody
     *     what using a lock takes
     */
    public LockOptions withAcl(List<ACL> rights) {
        return new LockOptions(
                queueLossPolicy, Optional.of(rights), releasesInBackground, holdAtMost, ownerLabel, name);
    }

    /**
     * These options for a lock whose {@link Lease#close} and {@link InterProcessLock#release} do not wait: they return
     * when the deletion of the node is on its way, one round trip earlier.
     *
     * <p>For this process nothing changes. Later requests of its client, on any thread, are sent behind the deletion in
     * the same session, so a later acquire cannot meet the old node; without a connection the deletion waits for the
     * next one. To other processes the lock looks held a little longer than to this one: until the deletion reaches the
     * server, until the connection is back, or, if this process dies first, until its session has ended. Before you
     * tell another process, outside ZooKeeper, that the lock is free, wait for {@link Lease#closeAsync}, which
     * completes with the confirmation under these options too.
     *
     * <p>If ZooKeeper refuses a deletion, the release does not throw. The refusal is logged, and {@code closeAsync} and
     * the next acquire of this client on the path report it. Closing the client waits for deletions in flight. The
     * option belongs to the lock object through which a hold was acquired; for a multi-lock it is the multi-lock's own
     * option.
     *
     * @return the changed copy
     */
    public LockOptions releaseInBackground() {
        return new LockOptions(queueLossPolicy, acl, true, holdAtMost, ownerLabel, name);
    }

    /**
     * These options for a lock that nobody holds for longer than {@code most}: when that is over and the lease is not
     * given back, it is LOST, its errors say why, and its node is deleted, so that the next in the
     * queue is granted. A holder that hangs, or forgot to close, then does not block the others forever, though its
     * process and session live. ShedLock calls this {@code lockAtMostFor}.
     *
     * <p>The time runs from the grant, on the monotonic clock of the holder's process. Re-entry does not prolong it,
     * nor does a downgrade to the shared mode. A re-entrant acquire through a lock object with other options is bound
     * by the options of the first acquire. {@link Lease#isValid()} is false from that moment on, even if everything
     * else in the process is late. The others get the lock a little later, when the deletion has reached the server;
     * without a connection, when there is one again or the session has ended. As after any loss, the holder may still
     * be at work, so where that would do harm use {@link Lease#fencingToken()} or {@link Lease#guard()}.
     *
     * <p>A lease of several locks as one is lost after the shortest time that the options of the multi-lock and of its
     * members name. A lock that is passed on inside the process ({@code recipes-handoff}) gives each holder the whole
     * time; when it is over, the node goes back to ZooKeeper.
     *
     * @param most how long, from 1 millisecond to 36500 days
     * @return the changed copy
     * @throws IllegalArgumentException if it is out of these bounds
     */
    public LockOptions holdAtMost(Duration most) {
        Objects.requireNonNull(most, "the time to hold at most is null: leave it out for no limit");
        return new LockOptions(queueLossPolicy, acl, releasesInBackground, Optional.of(most), ownerLabel, name);
    }

    /**
     * These options with an owner label for this lock, in place of the client's: what others see in {@link
     * InterProcessLock#participants()} as the owner of its nodes, such as the task that wants it. It is readable to
     * everybody who may read the nodes. Of several locks as one, each node has the label of its member's options, else
     * that of the multi-lock's.
     *
     * @param label 1 to 200 characters, none of them a control character
     * @return the changed copy
     * @throws IllegalArgumentException if it is not such a label
     */
    public LockOptions ownerLabel(String label) {
        Objects.requireNonNull(label, "the owner label is null: leave it out for that of the client");
        return new LockOptions(queueLossPolicy, acl, releasesInBackground, holdAtMost, Optional.of(label), name);
    }

    /**
     * These options with a name for the lock, by which a {@link LockObserver}, metrics and the log know it. Paths make
     * poor names for metrics, as there may be one for each order or customer; give all locks that serve one purpose the
     * same name. ZooKeeper never sees it.
     *
     * @param label 1 to 80 letters, digits, '.', '_', ':' or '-'
     * @return the changed copy
     * @throws IllegalArgumentException if it is something else
     */
    public LockOptions name(String label) {
        Objects.requireNonNull(label, "the name is null: leave it out for a lock without one");
        return new LockOptions(queueLossPolicy, acl, releasesInBackground, holdAtMost, ownerLabel, Optional.of(label));
    }

    private static void checkName(String name) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("the name \"" + Printable.of(name)
                    + "\" of a lock must be 1 to 80 letters, digits, '.', '_', ':' or '-'");
        }
    }

    @Override
    public String toString() {
        return "LockOptions[" + name.map(label -> label + ", ").orElse("") + queueLossPolicy
                + acl.map(rights -> ", " + Acls.describe(rights)).orElse("")
                + (releasesInBackground ? ", releases in background" : "")
                + holdAtMost.map(most -> ", held for " + most + " at most").orElse("")
                + ownerLabel.map(label -> ", owner " + label).orElse("") + "]";
    }
}
