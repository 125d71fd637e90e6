// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.clean;

import dev.zkrecipes.core.internal.wire.LockPath;
import java.util.List;
import java.util.function.Predicate;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/**
 * Deletes a node through a handle of the application's after the client on that handle has ended. The handle stays
 * open, so its session would keep the node, which would block everybody.
 *
 * <p>A request that is lost with the connection is sent again at once. ZooKeeper's client keeps it until the next
 * attempt to connect, and answers it if that attempt fails too, so the attempts set the pace, and neither a thread nor
 * a timer is needed. This ends when the server has answered, or when the session has ended, which deletes the node.
 */
final class DeletionAfterClose {
    private final ZooKeeper handle;

    DeletionAfterClose(ZooKeeper handle) {
        this.handle = handle;
    }

    /** Deletes the node at this path. */
    void delete(String path) {
        handle.delete(path, -1, (code, same, context) -> ifLost(code, () -> delete(path)), null);
    }

    /**
     * Searches for a node whose create was not answered, and deletes it. The list follows a write, so it shows every
     * create that the session has sent before.
     */
    void deleteIn(String lockPath, Predicate<String> isOurs) {
        handle.multi(List.of(Op.check(lockPath, -1)), (code, path, context, results) -> {}, null);
        handle.getChildren(
                lockPath,
                false,
                (code, path, context, names) -> {
                    ifLost(code, () -> deleteIn(lockPath, isOurs));
                    if (code == Code.OK.intValue()) {
                        names.stream().filter(isOurs).forEach(name -> delete(LockPath.child(lockPath, name)));
                    }
                },
                null);
    }

    private void ifLost(int code, Runnable again) {
        boolean isLost = code == Code.CONNECTIONLOSS.intValue() || code == Code.OPERATIONTIMEOUT.intValue();
        if (isLost && handle.getState().isAlive()) {
            again.run();
        }
    }
}
