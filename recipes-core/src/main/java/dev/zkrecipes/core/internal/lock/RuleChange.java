// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.internal.node.ParentMaker;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.apache.zookeeper.Op;

/**
 * One change of a lock's rule: reads it and writes what becomes of it, if nobody wrote meanwhile; else begins again.
 * Ends when its future does, with what the change threw if it did.
 */
public final class RuleChange extends OneShotRequest<Optional<Throwable>> {
    private final Function<Optional<byte[]>, byte[]> change;

    public RuleChange(LockSpec target, Function<Optional<byte[]>, byte[]> change) {
        super(target, "a change of the rule of");
        this.change = change;
    }

    @Override
    public void ask(Session session) {
        read(session);
    }

    private void read(Session session) {
        if (isOver()) {
            return;
        }
        session.zk().read(target().path(), answer -> {
            switch (answer.code()) {
                case OK -> write(session, answer.value());
                case NONODE -> make(session);
                default -> fail("change the data of " + target().path(), answer);
            }
        });
    }

    private void make(Session session) {
        Optional<byte[]> rule = changed(Optional.empty());
        if (rule.isPresent()) {
            // Then reads it: somebody else may have made the path first.
            new ParentMaker(session, target().acl()).make(target().path(), rule, answer -> {
                if (answer.isOk()) {
                    read(session);
                } else {
                    fail("change the data of " + target().path(), answer);
                }
            });
        }
    }

    private void write(Session session, Content content) {
        Optional<byte[]> rule = changed(Optional.of(content.data()));
        if (rule.isEmpty()) {
            return;
        }
        if (Arrays.equals(rule.get(), content.data())) {
            answer(Optional.empty());
            return;
        }
        int version = content.stat().getVersion();
        session.zk().multi(List.of(Op.setData(target().path(), rule.get(), version)), answer -> {
            switch (answer.code()) {
                case OK -> answer(Optional.empty());
                case BADVERSION, NONODE -> read(session);
                default -> fail("change the data of " + target().path(), answer);
            }
        });
    }

    private Optional<byte[]> changed(Optional<byte[]> rule) {
        try {
            return Optional.of(change.apply(rule));
        } catch (Throwable t) {
            answer(Optional.of(t)); // as a value: it is the caller's, not a failure of the engine
            return Optional.empty();
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
