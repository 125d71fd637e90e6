// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.node;

import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.wire.Acls;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Access;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.ACL;

/**
 * Checks whether the path of a lock with an ACL of its own has that ACL. A path that another client made may have
 * another one, and a client with DELETE there can delete any node in the queue.
 *
 * <p>Only the server knows what an ACL amounts to: {@code auth}, for one, stands for the creator. So the path is
 * compared with a node of the lock's that was made with the ACL. While the path has that child, no other node can take
 * its place. Confined to the engine thread.
 */
public final class AclCheck {
    private final Session session;
    private final LockSpec spec;
    private final OwnNode node;
    private Answer<Access> wanted = Answer.failed(Code.CONNECTIONLOSS);
    private Answer<Access> found = Answer.failed(Code.CONNECTIONLOSS);

    public AclCheck(Session session, LockSpec spec, OwnNode node) {
        this.session = session;
        this.spec = spec;
        this.node = node;
    }

    /** Asks, in one round trip. If the path is right, that is noted in the session before {@code done} is told. */
    public void send(Consumer<AclCheck> done) {
        session.zk().acl(node.path(), answer -> wanted = answer);
        session.zk().acl(spec.path(), answer -> {
            found = answer;
            if (answer().isOk() && refusal().isEmpty()) {
                session.checkedAcls()
                        .note(spec.path(), spec.acl(), found.value().stat());
            }
            done.accept(this);
        });
    }

    /** OK if there is something to compare. */
    public Answer<Access> answer() {
        return wanted.isOk() ? found : wanted;
    }

    /** What is wrong with the path. */
    public Optional<LockAccessException> refusal() {
        List<ACL> right = wanted.value().acl();
        List<ACL> seen = found.value().acl();
        if (Acls.areSame(right, seen)) {
            return Optional.empty();
        }
        String have = Acls.describe(seen);
        String want = Acls.describe(right);
        return Optional.of(new LockAccessException("lock " + spec.path() + ": the path exists with the rights "
                + have + ", but this lock is configured with " + want
                + (have.equals(want) ? " (with other passwords)" : "")
                + ": a client that may delete there can end any hold. Delete the path while nobody uses it and"
                + " protect the node above it, or pass the existing rights to LockOptions.withAcl"));
    }
}
