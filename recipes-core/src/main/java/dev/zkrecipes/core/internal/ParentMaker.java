// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.spi.Answer;
import java.util.List;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.ACL;

/**
 * Makes the path of a lock, as container nodes, which ZooKeeper removes when they are empty. From the bottom up, so that
 * nothing is asked for above what exists: a client may have no rights there.
 */
final class ParentMaker {
    private final Session session;
    private final List<ACL> acl;

    ParentMaker(Session session, List<ACL> acl) {
        this.session = session;
        this.acl = acl;
    }

    /** Answers OK if the path existed when it was looked at, NONODE if the root itself (the chroot) does not exist. */
    void make(String path, Consumer<Answer<String>> done) {
        if (path.equals("/")) {
            done.accept(Answer.failed(Code.NONODE));
            return;
        }
        session.zk().createContainer(path, acl, answer -> {
            switch (answer.code()) {
                case NODEEXISTS -> done.accept(Answer.ok(path));
                case NONODE ->
                    make(LockPath.parent(path), above -> {
                        if (above.isOk()) {
                            make(path, done);
                        } else {
                            done.accept(above);
                        }
                    });
                default -> done.accept(answer);
            }
        });
    }
}
