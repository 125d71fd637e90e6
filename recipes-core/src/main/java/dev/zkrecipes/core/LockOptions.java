// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import dev.zkrecipes.core.internal.wire.Acls;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.apache.zookeeper.data.ACL;

/**
 * How a lock behaves where there is a choice. Immutable; start from {@link #defaults()}.
 *
 * <p>A lock with an ACL of its own makes its path, what is missing above it, and its nodes with that ACL. On the first
 * use of a path in a session it compares the path's ACL with its own, and does so again whenever the path was recreated
 * or its ACL was changed; a path with other rights is refused with {@link LockAccessException}. Protect the node above:
 * whoever may create and delete there can take the place of a path that is empty.
 *
 * <pre>{@code
 * LockOptions options = LockOptions.defaults().withAcl(ZooDefs.Ids.CREATOR_ALL_ACL);
 * InterProcessMutex mutex = new InterProcessMutex(client, "/locks/orders", options);
 * }</pre>
 *
 * @param queueLossPolicy what a waiting acquire does when its place in the queue is gone
 * @param acl who may do what with the lock; empty for the ACL of the client
 * @param releasesInBackground whether giving back does not wait for ZooKeeper, see {@link #releaseInBackground}
 */
public record LockOptions(QueueLossPolicy queueLossPolicy, Optional<List<ACL>> acl, boolean releasesInBackground) {

    private static final LockOptions DEFAULTS = new LockOptions(QueueLossPolicy.REQUEUE);

    /**
     * Makes options.
     *
     * @param queueLossPolicy what a waiting acquire does when its place in the queue is gone
     * @param acl who may do what with the lock; empty for the ACL of the client
     * @param releasesInBackground whether giving back does not wait for ZooKeeper
     * @throws IllegalArgumentException as {@link #withAcl}
     */
    public LockOptions {
        Objects.requireNonNull(queueLossPolicy, "queueLossPolicy");
        acl = acl.map(Acls::check);
    }

    /**
     * Makes options of a lock that is given back with ZooKeeper's confirmation.
     *
     * @param queueLossPolicy what a waiting acquire does when its place in the queue is gone
     * @param acl who may do what with the lock; empty for the ACL of the client
     * @throws IllegalArgumentException as {@link #withAcl}
     */
    public LockOptions(QueueLossPolicy queueLossPolicy, Optional<List<ACL>> acl) {
        this(queueLossPolicy, acl, false);
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
     * The options that a lock has unless told otherwise: {@link QueueLossPolicy#REQUEUE}, the ACL of its client, and giving
     * back waits for ZooKeeper's confirmation.
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
        return new LockOptions(policy, acl, releasesInBackground);
    }

    /**
     * These options with an ACL for the lock, instead of the client's. All who contend need READ, CREATE and DELETE;
     * ADMIN lets them see, when the path is compared, whether it names the same passwords and not just the same users.
     *
     * @param rights who may do what; not empty. An entry of the scheme {@code digest} holds the hash of a password, never
     *     the password
     * @return the changed copy
     * @throws IllegalArgumentException if the list is empty, has an entry that is null or malformed, or grants nobody what
     *     using a lock takes
     */
    public LockOptions withAcl(List<ACL> rights) {
        return new LockOptions(queueLossPolicy, Optional.of(rights), releasesInBackground);
    }

    /**
     * These options for a lock whose {@link Lease#close} and {@link InterProcessLock#release} do not wait: they return when the
     * deletion of the node is on its way, one round trip earlier.
     *
     * <p>For this process nothing changes. What its client asks for afterwards, on whatever thread, is sent behind the deletion in
     * the same session, so an acquire after it cannot meet the old node; without a connection the deletion waits for the next one. For
     * another process the lock is held a little longer than this one says: for the way to the server, until the connection
     * is back, or, if this process dies first, until its session has ended. Who tells another process that the lock is free, past
     * ZooKeeper, is to wait for {@link Lease#closeAsync}, which completes with the confirmation under these options too.
     *
     * <p>A deletion that ZooKeeper refuses is not thrown to whoever gave back: it is logged, {@code closeAsync} tells of it, and so
     * does the next acquire of this client on the path. Closing the client waits for deletions under way. The option belongs to the
     * lock object through which a hold was acquired; for a multi-lock it is the multi-lock's own.
     *
     * @return the changed copy
     */
    public LockOptions releaseInBackground() {
        return new LockOptions(queueLossPolicy, acl, true);
    }

    @Override
    public String toString() {
        return "LockOptions[" + queueLossPolicy
                + acl.map(rights -> ", " + Acls.describe(rights)).orElse("")
                + (releasesInBackground ? ", releases in background" : "") + "]";
    }
}
