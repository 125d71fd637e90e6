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
 * Looks whether the path of a lock with an ACL of its own has that ACL: if somebody else made the path it may have
 * another one, and whoever has DELETE there can delete any node in the queue.
 *
 * <p>What an ACL comes to, only the server knows: {@code auth}, for one, stands for whoever creates. So the path is
 * compared with a node of the lock's that was made with the ACL. While it has that child, nobody can put another node in
 * the place of the path. Confined to the engine thread.
 */
public final class AclCheck {
    private final Session session;
    private final LockSpec target;
    private final OwnNode node;
    private Answer<Access> wanted = Answer.failed(Code.CONNECTIONLOSS);
    private Answer<Access> found = Answer.failed(Code.CONNECTIONLOSS);

    public AclCheck(Session session, LockSpec target, OwnNode node) {
        this.session = session;
        this.target = target;
        this.node = node;
    }

    /** Asks, in one round trip. If the path is right, that is noted in the session before {@code done} is told. */
    public void send(Consumer<AclCheck> done) {
        session.zk().acl(node.path(), answer -> wanted = answer);
        session.zk().acl(target.path(), answer -> {
            found = answer;
            if (answer().isOk() && refusal().isEmpty()) {
                session.checkedPaths().note(target, found.value().stat());
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
        return Optional.of(
                new LockAccessException("lock " + target.path() + ": somebody else made the path, with the rights "
                        + have + ", and this lock is to have " + want
                        + (have.equals(want) ? " (with other passwords)" : "")
                        + ": whoever may delete there can end anybody's hold. Delete the path while nobody uses it and protect the"
                        + " node above it, or name the rights that it has in LockOptions.withAcl"));
    }
}
