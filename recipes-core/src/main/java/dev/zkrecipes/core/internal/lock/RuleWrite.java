// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.internal.node.ParentMaker;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;

/**
 * Writes the rule of a lock, if nobody wrote since it was read: in place of what was read, or with the path if there
 * was none. Tells whether it did.
 */
final class RuleWrite extends OneShotRequest<Boolean> {
    private final byte[] rule;
    private final Optional<Content> read;

    RuleWrite(LockHost client, LockSpec spec, byte[] rule, Optional<Content> read) {
        super(client, spec, "a change of the rule of");
        this.rule = rule;
        this.read = read;
    }

    @Override
    public void ask(Session session) {
        String path = spec().path();
        if (read.isPresent()) {
            int version = read.get().stat().getVersion();
            session.zk().multi(List.of(Op.setData(path, rule, version)), this::onWritten);
        } else {
            create(session, new ParentMaker(session, spec().acl()));
        }
    }

    private void create(Session session, ParentMaker parents) {
        String path = spec().path();
        Op create = Op.create(path, rule, spec().acl(), CreateMode.PERSISTENT);
        session.zk().multi(List.of(create), answer -> {
            switch (answer.code()) {
                case NONODE -> makeParents(session, parents);
                case NODEEXISTS -> answer(false);
                default -> onWritten(answer);
            }
            if (!answer.isOk() && isOver()) {
                leave(session, parents);
            }
        });
    }

    private static void leave(Session session, ParentMaker parents) {
        parents.leave(unused -> unused.forEach(container -> delete(session, container)));
    }

    private static void delete(Session session, String container) {
        session.zk().multi(List.of(Op.delete(container, -1)), answer -> {
            if (answer.isUnsettled() && !session.isEnded()) {
                session.later(() -> delete(session, container));
            }
        });
    }

    private void makeParents(Session session, ParentMaker parents) {
        String path = spec().path();
        parents.make(LockPath.parent(path), Optional.empty(), answer -> {
            if (answer.isOk() && !isOver()) {
                create(session, parents);
            } else {
                fail("create the path " + path, answer);
                leave(session, parents);
            }
        });
    }

    private void onWritten(Answer<?> answer) {
        switch (answer.code()) {
            case OK -> answer(true);
            case BADVERSION, NONODE -> answer(false);
            default -> fail("change the data of " + spec().path(), answer);
        }
    }

    @Override
    public void fail(String what, Answer<?> answer) {
        if (answer.isUnsettled()) {
            fail(new LockConnectionException("lost the connection to ZooKeeper (" + answer.code()
                    + ") while asking for " + subject() + ": it is not known whether it was changed; change it again"));
        } else {
            super.fail(what, answer);
        }
    }
}
