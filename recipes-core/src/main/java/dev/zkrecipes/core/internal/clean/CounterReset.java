// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.clean;

import dev.zkrecipes.core.LockLimitException;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.Printable;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Access;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.data.ACL;

/**
 * Resets the counter from which ZooKeeper numbers the children of a path. The counter sticks at 2^31-1, after which
 * numbers repeat, so it is reset long before that: the path is deleted and recreated.
 *
 * <p>One {@code multi} checks that nobody has written to the path since it was read, deletes the path, and creates it
 * again with the same data and ACL. ZooKeeper refuses to delete a path that has children, so nothing happens to a
 * path that somebody uses.
 *
 * <p>A client cannot tell a container from a persistent node. A path with data is recreated as a persistent node, and
 * any other path as a container, because that is how this library creates them. Confined to the engine thread.
 */
public final class CounterReset {
    private final Session session;
    private final String path;

    public CounterReset(Session session, String path) {
        this.session = session;
        this.path = path;
    }

    /**
     * Sends the reset. The same {@code multi} deletes the {@code leaving} nodes, which are ours. {@code done} gets OK,
     * or a code that says why nothing was changed, or a code that leaves the outcome open.
     */
    public void send(List<OwnNode> leaving, Consumer<Answer<?>> done) {
        if (path.equals("/")) {
            done.accept(Answer.failed(Code.NOAUTH)); // nobody may delete the root
            return;
        }
        session.zk().read(path, content -> {
            if (content.isOk()) { // a failed answer may carry a value, too, but not the path's data
                session.zk().acl(path, access -> send(content.value(), access, leaving, done));
            } else {
                done.accept(content);
            }
        });
    }

    private void send(Content content, Answer<Access> access, List<OwnNode> leaving, Consumer<Answer<?>> done) {
        if (!access.isOk()) {
            done.accept(access);
        } else if (access.value().acl().stream().anyMatch(CounterReset::isMasked)) {
            done.accept(Answer.failed(Code.NOAUTH));
        } else {
            session.zk().multi(operations(content, access.value(), leaving), done::accept);
        }
    }

    private List<Op> operations(Content content, Access access, List<OwnNode> leaving) {
        List<Op> operations = new ArrayList<>();
        operations.add(Op.check(path, content.stat().getVersion()));
        leaving.forEach(node -> operations.add(Op.delete(node.path(), -1)));
        operations.add(Op.delete(path, -1));
        CreateMode mode = content.data().length > 0 ? CreateMode.PERSISTENT : CreateMode.CONTAINER;
        operations.add(Op.create(path, content.data(), access.acl(), mode));
        return operations;
    }

    /**
     * Whether the server hides the digest of this entry, as it does from clients without ADMIN rights. A path that was
     * recreated with the masked digest would let nobody in.
     */
    private static boolean isMasked(ACL acl) {
        return acl.getId().getScheme().equals("digest") && acl.getId().getId().endsWith(":x");
    }

    /**
     * Returns the error for a request whose sequence number is past the limit up to which locks are granted, while
     * {@code others} exist below the path. Lock nodes go away by themselves, but somebody has to remove any other node.
     */
    public static LockLimitException refusedFor(String path, List<String> others) {
        return others.stream()
                .filter(name -> !LockNode.isLockForm(name))
                .findFirst()
                .map(name -> never(path, "the node " + Printable.of(name) + " lies below it: remove that node"))
                .orElseGet(() -> notYet(
                        path, "There are " + others.size() + " other nodes, such as " + Printable.of(others.get(0))));
    }

    /**
     * Returns the error for a request whose sequence number is past the limit up to which locks are granted, after
     * ZooKeeper has refused to reset the counter.
     */
    public static LockLimitException refused(String path, Code code) {
        if (code == Code.NOTEMPTY) {
            return notYet(path, "Another request has just come, or a node that is not ephemeral lies below it");
        }
        return never(
                path,
                path.equals("/")
                        ? "it is the root, which cannot be recreated"
                        : "this client may not recreate it: give it ADMIN rights on it, and CREATE and DELETE on "
                                + LockPath.parent(path));
    }

    private static LockLimitException notYet(String path, String why) {
        return new LockLimitException("the sequence counter of " + path
                + " is nearly used up, so new requests are refused. It is reset as soon as nobody holds the lock or"
                + " waits for it. " + why + ": release what is held for long, and try again later");
    }

    private static LockLimitException never(String path, String why) {
        return new LockLimitException("the sequence counter of " + path + " is nearly used up, and cannot be reset: "
                + why + ", or use another path for the lock");
    }
}
