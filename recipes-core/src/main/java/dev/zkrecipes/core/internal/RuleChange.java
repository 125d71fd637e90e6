// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.spi.Answer;
import dev.zkrecipes.core.spi.ZooKeeperOperations.Content;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.apache.zookeeper.Op;

/**
 * One change of a lock's rule: reads it and writes what becomes of it, if nobody wrote meanwhile; else begins again.
 * Ends when its future does.
 */
final class RuleChange implements SessionSource.User {
    private final LockTarget target;
    private final EngineClient client;
    private final Function<Optional<byte[]>, byte[]> change;
    private final CompletableFuture<Optional<Throwable>> result = new CompletableFuture<>();

    RuleChange(LockTarget target, Function<Optional<byte[]>, byte[]> change) {
        this.target = target;
        this.client = target.client();
        this.change = change;
    }

    /** Begins; the future completes on the engine thread, with what {@code change} threw, if it did. */
    CompletableFuture<Optional<Throwable>> launch() {
        client.scheduler().execute(() -> client.sessions().request(this));
        return result;
    }

    @Override
    public String lockPath() {
        return target.path();
    }

    @Override
    public void unavailable(LockException why) {
        result.completeExceptionally(why);
    }

    @Override
    public void notNow(LockException why) {
        client.sessions().forget(this);
        result.completeExceptionally(why);
    }

    @Override
    public void with(Session session) {
        if (session.isConnected()) {
            read(session);
        } else {
            result.completeExceptionally(new LockConnectionException("not connected to ZooKeeper, so the rule of the"
                    + " lock " + target.path() + " cannot be changed; try again when connected"));
        }
    }

    private void read(Session session) {
        if (result.isDone()) {
            return;
        }
        session.zk().read(target.path(), answer -> {
            switch (answer.code()) {
                case OK -> write(session, answer.value());
                case NONODE -> make(session);
                default -> fail(answer);
            }
        });
    }

    private void make(Session session) {
        Optional<byte[]> rule = changed(Optional.empty());
        if (rule.isPresent()) {
            // Then reads it: somebody else may have made the path first.
            new ParentMaker(session, client.settings().acl()).make(target.path(), rule, answer -> {
                if (answer.isOk()) {
                    read(session);
                } else {
                    fail(answer);
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
            result.complete(Optional.empty());
            return;
        }
        int version = content.stat().getVersion();
        session.zk().multi(List.of(Op.setData(target.path(), rule.get(), version)), answer -> {
            switch (answer.code()) {
                case OK -> result.complete(Optional.empty());
                case BADVERSION, NONODE -> read(session);
                default -> fail(answer);
            }
        });
    }

    private Optional<byte[]> changed(Optional<byte[]> rule) {
        try {
            return Optional.of(change.apply(rule));
        } catch (Throwable t) {
            result.complete(Optional.of(t)); // as a value: it is the caller's, not a failure of the engine
            return Optional.empty();
        }
    }

    private void fail(Answer<?> answer) {
        result.completeExceptionally(
                answer.isUnsettled()
                        ? new LockConnectionException("lost the connection to ZooKeeper (" + answer.code()
                                + ") while changing the rule of the lock " + target.path()
                                + ": it is not known whether it was changed; change it again")
                        : Refusal.of(target.path(), "change the data of " + target.path(), answer.code()));
    }
}
