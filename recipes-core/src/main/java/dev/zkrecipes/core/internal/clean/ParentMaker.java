// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.clean;

import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.port.Answer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * Makes the path of a lock, of container nodes, which ZooKeeper removes when they are empty again, or with a last node
 * that stays because it keeps the lock's rule. It begins at the bottom: above what exists it may have no rights.
 *
 * <p>ZooKeeper never removes a container that never had a child. Only the last one that is made here can be such, or
 * one whose create got no answer. Who gives up before it has made a node in it {@linkplain #leave asks} for the paths.
 * Confined to the engine thread.
 */
public final class ParentMaker {
    private final Session session;
    private final List<ACL> acl;
    private boolean underWay;
    private final Deque<String> childless = new ArrayDeque<>(); // the deepest first
    private @Nullable Consumer<List<String>> left;

    public ParentMaker(Session session, List<ACL> acl) {
        this.session = session;
        this.acl = acl;
    }

    /** Answers NODEEXISTS if the path existed when it was looked at, NONODE if the root (the chroot) does not exist. */
    public void make(String path, Optional<byte[]> rule, Consumer<Answer<?>> done) {
        if (path.equals("/")) {
            done.accept(Answer.failed(Code.NONODE));
            return;
        }
        create(path, rule, answer -> {
            if (answer.code() == Code.NONODE) {
                make(LockPath.parent(path), Optional.empty(), above -> {
                    if (above.isOk() || above.code() == Code.NODEEXISTS) {
                        make(path, rule, done);
                    } else {
                        done.accept(above);
                    }
                });
            } else {
                done.accept(answer);
            }
        });
    }

    private void create(String path, Optional<byte[]> rule, Consumer<Answer<?>> reply) {
        underWay = true;
        if (rule.isPresent()) {
            session.zk()
                    .multi(
                            List.of(Op.create(path, rule.get(), acl, CreateMode.PERSISTENT)),
                            answer -> onCreated(answer, null, reply));
        } else {
            session.zk().createContainer(path, acl, answer -> onCreated(answer, path, reply));
        }
    }

    private void onCreated(Answer<?> answer, @Nullable String container, Consumer<Answer<?>> reply) {
        underWay = false;
        if (answer.isOk()) {
            childless.clear(); // it lies below them
        }
        if (container != null && (answer.isOk() || answer.isUnsettled())) {
            childless.remove(container);
            childless.addFirst(container);
        }
        if (left == null) {
            reply.accept(answer);
        } else {
            left.accept(List.copyOf(childless));
        }
    }

    boolean hasMadeNothing() {
        return !underWay && childless.isEmpty();
    }

    /** Makes no more. Reports, once that is known, the containers that may be there without a child, deepest first. */
    public void leave(Consumer<List<String>> unused) {
        if (underWay) {
            left = unused;
        } else {
            unused.accept(List.copyOf(childless));
        }
    }
}
