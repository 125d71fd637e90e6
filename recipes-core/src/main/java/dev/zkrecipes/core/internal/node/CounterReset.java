// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.node;

import dev.zkrecipes.core.internal.session.Session;
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
 * Starts the counter of a path anew: by one {@code multi} that checks that nobody has written to the path since it was
 * read, deletes it, which ZooKeeper refuses if anybody is below it, and makes it again with the same data and ACL. So
 * nothing happens to a path that somebody uses.
 *
 * <p>ZooKeeper does not tell containers from persistent nodes. A path with data is recreated as a persistent node, any
 * other as a container: that is how this library creates its paths.
 */
public final class CounterReset {
    private final Session session;
    private final List<Op> operations = new ArrayList<>();

    public CounterReset(Session session) {
        this.session = session;
    }

    /**
     * Sends it.
     *
     * @param done told OK, or why nothing was changed, or that this is not known
     */
    public void renew(String path, Consumer<Answer<?>> done) {
        prepare(path, answer -> {
            if (answer.isOk()) {
                session.zk().multi(operations, done::accept);
            } else {
                done.accept(answer);
            }
        });
    }

    private void prepare(String path, Consumer<Answer<?>> done) {
        if (path.equals("/")) {
            done.accept(Answer.failed(Code.NOAUTH)); // nobody may delete it
            return;
        }
        List<Answer<Content>> read = new ArrayList<>();
        session.zk().read(path, read::add);
        session.zk().acl(path, answer -> {
            Content content = read.isEmpty() ? null : read.get(0).valueOrNull();
            Access access = answer.valueOrNull();
            if (content == null || access == null) {
                done.accept(content == null && !read.isEmpty() ? read.get(0) : answer);
            } else if (access.acl().stream().anyMatch(CounterReset::isMasked)) {
                done.accept(Answer.failed(Code.NOAUTH));
            } else {
                operations.add(Op.check(path, content.stat().getVersion()));
                operations.add(Op.delete(path, -1));
                CreateMode mode = content.data().length > 0 ? CreateMode.PERSISTENT : CreateMode.CONTAINER;
                operations.add(Op.create(path, content.data(), access.acl(), mode));
                done.accept(answer);
            }
        });
    }

    /**
     * ZooKeeper shows the digests of an ACL only to clients with ADMIN rights. Others see this, with which nobody can
     * log in.
     */
    private static boolean isMasked(ACL acl) {
        return acl.getId().getScheme().equals("digest") && acl.getId().getId().endsWith(":x");
    }
}
