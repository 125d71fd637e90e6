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
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * Optional settings of a lock. Immutable; start from {@link #defaults()}.
 *
 * <p>A lock with an ACL of its own creates its path, any missing nodes above it, and its nodes with that ACL. On the
 * first use of a path in a session it compares the path's ACL with its own, and again whenever the path was recreated
 * or its ACL was changed. A path with other rights is refused with {@link LockAccessException}. Protect the node above:
 * a client that may create and delete there can replace an empty path.
 *
 * <pre>{@code
 * LockOptions options = LockOptions.defaults().withAcl(ZooDefs.Ids.CREATOR_ALL_ACL);
 * InterProcessMutex mutex = new InterProcessMutex(client, "/locks/orders", options);
 * }</pre>
 *
 * <p>Instances are thread-safe; those with the same settings are equal.
 */
public final class LockOptions {
    private static final Duration SHORTEST_HOLD = Duration.ofMillis(1);
    private static final Duration LONGEST_HOLD = Duration.ofDays(36_500);
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._:-]{1,80}");

    private static final LockOptions DEFAULTS = new LockOptions(new Values());

    /** The settings. Changed only before the options that contain them are published. */
    private static final class Values {
        private QueueLossPolicy queueLossPolicy = QueueLossPolicy.REQUEUE;
        private Optional<List<ACL>> acl = Optional.empty();
        private boolean releasesInBackground;
        private boolean standsBy;
        private Optional<Duration> holdAtMost = Optional.empty();
        private Optional<String> ownerLabel = Optional.empty();
        private Optional<String> name = Optional.empty();
        private DeadlockPolicy deadlockPolicy = DeadlockPolicy.WAIT;

        List<Object> all() {
            return List.of(
                    queueLossPolicy, acl, releasesInBackground, standsBy, holdAtMost, ownerLabel, name, deadlockPolicy);
        }
    }

    private final Values values;

    private LockOptions(Values values) {
        this.values = values;
    }

    /** Returns a copy with one change. */
    private LockOptions with(Consumer<Values> change) {
        Values copy = new Values();
        copy.queueLossPolicy = values.queueLossPolicy;
        copy.acl = values.acl;
        copy.releasesInBackground = values.releasesInBackground;
        copy.standsBy = values.standsBy;
        copy.holdAtMost = values.holdAtMost;
        copy.ownerLabel = values.ownerLabel;
        copy.name = values.name;
        copy.deadlockPolicy = values.deadlockPolicy;
        change.accept(copy);
        return new LockOptions(copy);
    }

    /**
     * {@return the default options: {@link QueueLossPolicy#REQUEUE}, the ACL of the client, and a release that waits
     * for ZooKeeper's confirmation}
     */
    public static LockOptions defaults() {
        return DEFAULTS;
    }

    /** {@return what a waiting acquire does when its place in the queue is lost} */
    public QueueLossPolicy queueLossPolicy() {
        return values.queueLossPolicy;
    }

    /** {@return who may do what with the lock: a copy of its ACL; empty for that of the client} */
    public Optional<List<ACL>> acl() {
        return values.acl.map(Acls::copy);
    }

    /** {@return whether a release returns without waiting for ZooKeeper, see {@link #withReleaseInBackground}} */
    public boolean releasesInBackground() {
        return values.releasesInBackground;
    }

    /** {@return whether requests wait without a warning, however long it takes, see {@link #withStandby}} */
    public boolean standsBy() {
        return values.standsBy;
    }

    /** {@return how long a lease may be held before it is lost, see {@link #withHoldAtMost}; empty for no limit} */
    public Optional<Duration> holdAtMost() {
        return values.holdAtMost;
    }

    /** {@return the owner label of the lock's nodes, see {@link #withOwnerLabel}; empty for the client's} */
    public Optional<String> ownerLabel() {
        return values.ownerLabel;
    }

    /** {@return what the application calls the lock in metrics and logs, see {@link #withName}; empty if unnamed} */
    public Optional<String> name() {
        return values.name;
    }

    /** {@return what a waiting acquire does when it waits for itself, see {@link #withDeadlockPolicy}} */
    public DeadlockPolicy deadlockPolicy() {
        return values.deadlockPolicy;
    }

    /**
     * {@return these options with another queue-loss policy}
     *
     * @param policy what a waiting acquire does when its place in the queue is lost
     */
    public LockOptions withQueueLossPolicy(QueueLossPolicy policy) {
        Objects.requireNonNull(policy, "queueLossPolicy");
        return with(copy -> copy.queueLossPolicy = policy);
    }

    /**
     * {@return these options with an ACL for the lock, instead of the client's} All contenders need READ, CREATE and
     * DELETE. With ADMIN they can see, when the path is compared, whether it names the same passwords and not just the
     * same users.
     *
     * @param rights who may do what; not empty. An entry of the scheme {@code digest} contains the hash of a password,
     *     never the password
     * @throws IllegalArgumentException if the list is empty, has an entry that is null or malformed, or grants nobody
     *     the rights that are needed to use a lock
     */
    public LockOptions withAcl(List<ACL> rights) {
        List<ACL> own = Acls.check(Objects.requireNonNull(rights, "rights"));
        return with(copy -> copy.acl = Optional.of(own));
    }

    /**
     * {@return these options for a lock whose {@link Lease#close} and {@link InterProcessLock#release} do not wait}
     * They return when the deletion of the node is on its way, one round trip earlier.
     *
     * <p>For this process nothing changes: later requests of its client follow the deletion in the same session. To
     * other processes the lock looks held a little longer: until the deletion reaches the server, until the connection
     * is restored, or, if this process dies first, until its session has ended. Before you tell another process,
     * outside ZooKeeper, that the lock is free, wait for {@link Lease#closeAsync}, which completes with the
     * confirmation under these options too.
     *
     * <p>If ZooKeeper refuses a deletion, the release does not throw: the refusal is logged, and {@code closeAsync} and
     * the next acquire of this client on the path report it. Closing the client waits for deletions in flight. The
     * option of the lock object through which a hold was acquired applies; for a multi-lock, its own option.
     */
    public LockOptions withReleaseInBackground() {
        return with(copy -> copy.releasesInBackground = true);
    }

    /**
     * {@return these options for a lock whose requests stand by} However long such a request waits, it does not count
     * as slow: see {@link ZooKeeperClientBuilder#slowAfter}. It suits candidates for leadership, which wait for as long
     * as another one leads. For several locks as one, the options of the multi-lock count.
     */
    public LockOptions withStandby() {
        return with(copy -> copy.standsBy = true);
    }

    /**
     * {@return these options for a lock that nobody holds for longer than {@code most}} When that time has elapsed and
     * the lease has not been closed, it is LOST, its errors say why, and its node is deleted, so that the next request
     * in the queue is granted. A holder that hangs, or forgot to close, then does not block the others forever,
     * although its process and session are alive. ShedLock calls this {@code lockAtMostFor}.
     *
     * <p>The time runs from the grant, on the monotonic clock of the holder's process. {@link Lease#prolong} changes
     * it; re-entry, through any lock object, does not, nor does a downgrade to the shared mode. Once it has elapsed
     * {@link Lease#isValid()} is false, even if everything else in the process is late. The others get the lock when
     * the deletion has reached the server; without a connection, once there is one again or the session has ended. As
     * after any loss, the holder may still be at work, so where that would do harm use {@link Lease#fencingToken()} or
     * {@link Lease#guard()}.
     *
     * <p>A lease of several locks as one is lost after the shortest time that the options of the multi-lock and of its
     * members name, and then all members are released, also those of other libraries. A multi-lock without a member of
     * this library refuses this option. A lock that is handed over inside the process ({@code recipes-handoff}) gives
     * each holder the whole time; when it has elapsed, the node is deleted.
     *
     * @param most how long, from 1 millisecond to 36500 days
     * @throws IllegalArgumentException if it is out of these bounds
     */
    public LockOptions withHoldAtMost(Duration most) {
        Objects.requireNonNull(most, "the time to hold at most is null: leave it out for no limit");
        if (most.compareTo(SHORTEST_HOLD) < 0 || most.compareTo(LONGEST_HOLD) > 0) {
            throw new IllegalArgumentException(
                    "holdAtMost is " + most + ", must be from 1 millisecond to 36500 days; leave it out for no limit");
        }
        return with(copy -> copy.holdAtMost = Optional.of(most));
    }

    /** {@return these options without {@link #withHoldAtMost}} */
    public LockOptions withoutHoldAtMost() {
        return with(copy -> copy.holdAtMost = Optional.empty());
    }

    /**
     * {@return these options with an owner label for this lock, instead of the client's} Others see it in
     * {@link InterProcessLock#participants()} as the owner of the lock's nodes, such as the task that wants it.
     * Everybody who may read the nodes can read it. For several locks as one, each node has the label of its member's
     * options, otherwise that of the multi-lock's options.
     *
     * @param label 1 to 200 printable characters, not just blanks
     * @throws IllegalArgumentException if {@code label} is not of this form
     */
    public LockOptions withOwnerLabel(String label) {
        Objects.requireNonNull(label, "the owner label is null: leave it out for that of the client");
        OwnerLabel.check(label);
        return with(copy -> copy.ownerLabel = Optional.of(label));
    }

    /**
     * {@return these options with a name for the lock} A {@link LockObserver}, metrics and the log use it for the lock.
     * Paths make poor names for metrics, as there may be one for each order or customer; give all locks that serve one
     * purpose the same name. ZooKeeper never sees it.
     *
     * @param label 1 to 80 letters, digits, '.', '_', ':' or '-'
     * @throws IllegalArgumentException if it is something else
     */
    public LockOptions withName(String label) {
        Objects.requireNonNull(label, "the label is null: leave it out for a lock without a name");
        if (!NAME.matcher(label).matches()) {
            throw new IllegalArgumentException("the name \"" + Printable.of(label)
                    + "\" of a lock must be 1 to 80 letters, digits, '.', '_', ':' or '-'");
        }
        return with(copy -> copy.name = Optional.of(label));
    }

    /**
     * {@return these options with another deadlock policy} A thread that holds locks and waits for another one longer
     * than {@link ZooKeeperClientBuilder#slowAfter}, or 10 seconds if none is set, checks once a minute whether it
     * waits for itself: see {@link Deadlock}. A deadlock is logged as a warning, and observers are told.
     *
     * @param policy what the acquire does in a deadlock
     */
    public LockOptions withDeadlockPolicy(DeadlockPolicy policy) {
        Objects.requireNonNull(policy, "policy");
        return with(copy -> copy.deadlockPolicy = policy);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof LockOptions that && values.all().equals(that.values.all());
    }

    @Override
    public int hashCode() {
        return values.all().hashCode();
    }

    @Override
    public String toString() {
        return "LockOptions[" + values.name.map(label -> label + ", ").orElse("") + values.queueLossPolicy
                + values.acl.map(rights -> ", " + Acls.describe(rights)).orElse("")
                + (values.releasesInBackground ? ", releases in background" : "")
                + (values.standsBy ? ", stands by" : "")
                + (values.deadlockPolicy == DeadlockPolicy.FAIL ? ", fails in a deadlock" : "")
                + values.holdAtMost
                        .map(most -> ", held for " + most + " at most")
                        .orElse("")
                + values.ownerLabel.map(label -> ", owner " + label).orElse("") + "]";
    }
}
