// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.reads;

import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.internal.handle.RecentlyUsed;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.wire.Acls;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Access;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/**
 * Checks whether the path of a lock with an ACL of its own has that ACL. Another client may have created the path with
 * other rights, and a client with DELETE rights there can delete any node in the queue. Locks without an ACL of their
 * own are not checked.
 *
 * <p>Only the server knows what an ACL amounts to: {@code auth}, for example, stands for the creator. So the ACL of the
 * path is compared with that of a node below it, which this client has created with the ACL of the lock. While that
 * node exists, the path cannot be deleted and recreated.
 *
 * <p>A path whose ACL was right is remembered together with its versions, because it may be recreated, or its ACL may
 * be changed. Only the most recently used paths are remembered; the others are checked again. Confined to the engine
 * thread.
 */
public final class CheckedAcls {

    /** A lock path, and the rights that it should have. */
    private record Key(String path, List<ACL> acl) {
        Key(LockSpec spec) {
            this(spec.path(), spec.acl());
        }
    }

    /** Distinguishes a path from a recreated one, and from one whose ACL was changed. */
    private record Version(long czxid, int aversion) {
        Version(Stat stat) {
            this(stat.getCzxid(), stat.getAversion());
        }
    }

    private final ZooKeeperOperations zk;
    private final RecentlyUsed<Key, Version> versions = new RecentlyUsed<>();

    public CheckedAcls(ZooKeeperOperations zk) {
        this.zk = zk;
    }

    /** Whether the ACL of the path was found to be right once, so that the client is known to have rights there. */
    public boolean knows(LockSpec spec) {
        return !spec.hasOwnAcl() || versions.get(new Key(spec)) != null;
    }

    /** Whether the path, as it was seen now, is the one whose ACL was found to be right. */
    public boolean isAsChecked(LockSpec spec, Optional<Stat> seen) {
        return !spec.hasOwnAcl()
                || seen.map(Version::new)
                        .filter(version -> version.equals(versions.get(new Key(spec))))
                        .isPresent();
    }

    /** Forgets the path, which is being recreated: the ACL that was checked is that of an earlier node at this path. */
    public void forget(LockSpec spec) {
        versions.remove(new Key(spec));
    }

    /**
     * Compares the ACL of the path with that of a node below it, in one round trip. {@code done} gets an exception that
     * says what is wrong, or empty if the ACL is right. A path with the right ACL is remembered.
     */
    public void check(LockSpec spec, String nodePath, Consumer<Answer<Optional<LockAccessException>>> done) {
        List<Answer<Access>> answers = new ArrayList<>(2);
        zk.acl(nodePath, answers::add);
        zk.acl(spec.path(), answer -> {
            answers.add(answer);
            Answer<Access> wanted = answers.get(0);
            if (!wanted.isOk() || !answer.isOk()) {
                done.accept(Answer.failed(wanted.isOk() ? answer.code() : wanted.code()));
                return;
            }
            Access found = answer.value();
            boolean isRight = Acls.areSame(wanted.value().acl(), found.acl());
            if (isRight) {
                versions.put(new Key(spec), new Version(found.stat()));
            }
            done.accept(Answer.ok(
                    isRight
                            ? Optional.empty()
                            : Optional.of(refusal(spec.path(), wanted.value().acl(), found.acl()))));
        });
    }

    private static LockAccessException refusal(String path, List<ACL> right, List<ACL> seen) {
        String have = Acls.describe(seen);
        String want = Acls.describe(right);
        return new LockAccessException("lock " + path + ": the path exists with the rights "
                + have + ", but this lock is configured with " + want
                + (have.equals(want) ? " (with other passwords)" : "")
                + ": a client that may delete there can end any hold. Delete the path while nobody uses it and"
                + " protect the node above it, or pass the existing rights to LockOptions.withAcl");
    }
}
