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
 * Creates the path of a lock. The path consists of containers, which ZooKeeper removes when they are empty again. If
 * the path stores the rule of the lock, its last node is persistent instead, so that the rule is kept. Creation begins
 * with the last node, and requests nothing above the deepest existing node, where the client may have no rights.
 *
 * <p>ZooKeeper never removes a container that never had a child. Of the containers that are created here, only the last
 * one, or one whose create got no answer, can remain without a child; each of the others contains the next. A request
 * that gives up before it has created a node there must {@linkplain #leave delete} these containers.
 *
 * <p>Confined to the engine thread.
 */
public final class ParentMaker {
    private final Session session;
    private final List<ACL> acl;
    private boolean underWay; // whether a create is not answered yet
    private final Deque<String> childless = new ArrayDeque<>(); // containers that may have no child, deepest first
    private @Nullable Runnable whenAnswered; // runs instead of the next step once a create was answered

    public ParentMaker(Session session, List<ACL> acl) {
        this.session = session;
        this.acl = acl;
    }

    /**
     * Creates the path, with the rule as its data if there is one, and the nodes that are missing above it. The answer
     * is NODEEXISTS if the path exists already, and NONODE if the root does not exist, which is the chroot of the
     * connection.
     */
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
            childless.clear(); // all of them contain the new node
        }
        if (container != null && (answer.isOk() || answer.isUnsettled())) {
            childless.remove(container);
            childless.addFirst(container);
        }
        if (whenAnswered == null) {
            reply.accept(answer);
        } else {
            whenAnswered.run();
        }
    }

    /** Whether it is certain that no container that was created here is without a child. */
    boolean hasMadeNothing() {
        return !underWay && childless.isEmpty();
    }

    /**
     * Stops creating nodes, and deletes in the session {@code in} the containers that may exist without a child. If a
     * create is under way, waits for its answer first. {@code done} gets whether all deletions were answered; if not,
     * call this again.
     */
    public void leave(Session in, Consumer<Boolean> done) {
        Runnable deletion = () -> delete(in, List.copyOf(childless), done);
        if (underWay) {
            whenAnswered = deletion;
        } else {
            deletion.run();
        }
    }

    /**
     * Deletes these containers, the deepest first. A container that somebody uses, that is gone, or that this client
     * may not delete blocks nobody, so such a refusal does not matter.
     */
    private static void delete(Session in, List<String> paths, Consumer<Boolean> done) {
        if (paths.isEmpty()) {
            done.accept(true);
            return;
        }
        in.zk().multi(List.of(Op.delete(paths.get(0), -1)), answer -> {
            if (answer.isUnsettled()) {
                done.accept(false);
            } else {
                delete(in, paths.subList(1, paths.size()), done);
            }
        });
    }
}
