// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.clean;

import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.port.Answer;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/**
 * Deletes nodes through a handle of the application's after the client on that handle has ended. The handle stays open,
 * so its session would keep the nodes, which would block everybody.
 *
 * <p>A request that is lost with the connection is sent again at once. ZooKeeper's client keeps it until the next
 * attempt to connect, and answers it if that attempt fails too, so the attempts set the pace, and neither a thread nor
 * a timer is needed. This ends when the server has answered, or when the session has ended, which deletes the nodes.
 */
final class DeletionAfterClose {
    /** How often a list may be lost. It may be too large for a packet, and must not cost every connection. */
    private static final int MOST_LOST_LISTS = 100;

    private final ZooKeeper handle;

    DeletionAfterClose(ZooKeeper handle) {
        this.handle = handle;
    }

    /**
     * Deletes the node at this path. Not by a plain delete: a server with enableEagerACLCheck would refuse that by
     * closing the connection.
     */
    void delete(String path) {
        handle.multi(
                List.of(Op.delete(path, -1)),
                (code, same, context, results) -> {
                    if (isToBeSentAgain(code)) {
                        delete(path);
                    }
                },
                null);
    }

    /**
     * Searches a path for nodes whose create was not answered, by the beginnings of their names, and deletes them. The
     * list follows a committed write, so it shows every create that the session has sent before.
     */
    void deleteIn(String lockPath, List<String> beginnings) {
        deleteIn(lockPath, beginnings, 0);
    }

    private void deleteIn(String lockPath, List<String> beginnings, int lostLists) {
        handle.multi(
                List.of(Op.check(lockPath, -1)),
                (code, path, context, results) -> {
                    if (isToBeSentAgain(code)) {
                        deleteIn(lockPath, beginnings, lostLists);
                    } else {
                        list(lockPath, beginnings, lostLists);
                    }
                },
                null);
    }

    private void list(String lockPath, List<String> beginnings, int lostLists) {
        handle.getChildren(
                lockPath,
                false,
                (code, path, context, names) -> {
                    if (code == Code.OK.intValue()) {
                        names.stream()
                                .filter(name -> beginnings.stream().anyMatch(name::startsWith))
                                .forEach(name -> delete(LockPath.child(lockPath, name)));
                    } else if (isToBeSentAgain(code) && lostLists < MOST_LOST_LISTS) {
                        deleteIn(lockPath, beginnings, lostLists + 1);
                    }
                },
                null);
    }

    /** Whether a request had no outcome and the session may still be alive. */
    private boolean isToBeSentAgain(int code) {
        return Answer.failed(Answer.codeOf(code)).isUnsettled()
                && handle.getState().isAlive();
    }
}
