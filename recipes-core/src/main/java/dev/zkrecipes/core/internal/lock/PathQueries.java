// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.internal.node.ParentMaker;
import dev.zkrecipes.core.internal.queue.LockQueue;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.Deadline;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.LockSnapshot;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.zookeeper.Op;

/** Questions to the server about one lock path, and its rule: each waits for one answer. Thread-safe. */
public final class PathQueries {
    private final LockSpec spec;
    private final LockHost client;

    public PathQueries(LockHost client, LockSpec spec) {
        this.spec = spec;
        this.client = client;
    }

    public List<Participant> participants(Deadline deadline) throws InterruptedException {
        return await(() -> new ParticipantQuery(client, spec, false), deadline).stream()
                .map(SeenParticipant::participant)
                .toList();
    }

    /** The holders, by the list; no other node is read. */
    public List<SeenParticipant> holders(Deadline deadline) throws InterruptedException {
        return await(() -> new ParticipantQuery(client, spec, true), deadline);
    }

    public LockSnapshot snapshot() throws InterruptedException {
        return await(Snapshot::new, deadline());
    }

    /**
     * Replaces the rule by the result of {@code change}; creates the path with it if there is none. {@code change} is
     * user code and runs here, on the calling thread; its time does not count against the limit. What it throws is
     * thrown here.
     */
    public void changeRule(Function<Optional<byte[]>, byte[]> change) throws InterruptedException {
        Deadline deadline = deadline();
        boolean written = false;
        while (!written) {
            Optional<Content> read = await(RuleRead::new, deadline);
            long begun = client.scheduler().nanoTime();
            byte[] rule = change.apply(read.map(Content::data));
            deadline = deadline.later(client.scheduler().nanoTime() - begun);
            boolean isSame = read.isPresent() && Arrays.equals(rule, read.get().data());
            written = isSame || await(() -> new RuleWrite(rule, read), deadline);
        }
    }

    private Deadline deadline() {
        return Deadline.after(client.requestTimeout(), client.scheduler());
    }

    private <T> T await(Supplier<OneShotRequest<T>> maker, Deadline deadline) throws InterruptedException {
        Blocking.requireMayBlock(client.scheduler());
        Blocking.throwIfInterrupted();
        client.requireOpenFor(spec.path());
        OneShotRequest<T> question = maker.get();
        CompletableFuture<T> answer = question.launch();
        Optional<T> found = Blocking.await(answer, deadline);
        if (found.isEmpty()) {
            answer.cancel(false);
            throw new LockConnectionException("no answer from ZooKeeper within " + client.requestTimeout()
                    + " to the request for " + question.subject() + "; ask again");
        }
        return found.get();
    }

    /** One look at the queue of a lock and at its rule, by one request. */
    private final class Snapshot extends OneShotRequest<LockSnapshot> {
        Snapshot() {
            super(client, spec, "the queue of");
        }

        @Override
        void ask(Session session) {
            list(session, list -> {
                switch (list.code()) {
                    case OK, NONODE -> {
                        LockQueue queue = LockQueue.in(list, spec);
                        Set<LockNode> holding = queue.holding();
                        answer(new LockSnapshot(
                                list.rule(spec.path()).map(Content::data),
                                queue.nodes().stream()
                                        .map(node -> new LockSnapshot.Place(node, holding.contains(node)))
                                        .toList()));
                    }
                    default -> fail("list " + spec.path(), list.answer());
                }
            });
        }
    }

    /** Reads the rule of a lock; empty if its path does not exist. */
    private final class RuleRead extends OneShotRequest<Optional<Content>> {
        RuleRead() {
            super(client, spec, "a change of the rule of");
        }

        @Override
        void ask(Session session) {
            session.zk().read(spec.path(), answer -> {
                switch (answer.code()) {
                    case OK -> answer(Optional.of(answer.value()));
                    case NONODE -> answer(Optional.empty());
                    default -> fail("read the data of " + spec.path(), answer);
                }
            });
        }
    }

    /**
     * Writes the rule of a lock, if nobody wrote since it was read: in place of what was read, or with the path if
     * there was none. Tells whether it did.
     */
    private final class RuleWrite extends OneShotRequest<Boolean> {
        private final byte[] rule;
        private final Optional<Content> read;

        RuleWrite(byte[] rule, Optional<Content> read) {
            super(client, spec, "a change of the rule of");
            this.rule = rule;
            this.read = read;
        }

        @Override
        void ask(Session session) {
            String path = spec.path();
            if (read.isPresent()) {
                int version = read.get().stat().getVersion();
                session.zk().multi(List.of(Op.setData(path, rule, version)), answer -> {
                    switch (answer.code()) {
                        case OK -> answer(true);
                        case BADVERSION, NONODE -> answer(false);
                        default -> fail("change the data of " + path, answer);
                    }
                });
            } else {
                ParentMaker maker = new ParentMaker(session, spec.acl());
                maker.make(path, Optional.of(rule), answer -> onMade(session, maker, answer));
            }
        }

        private void onMade(Session session, ParentMaker maker, Answer<?> answer) {
            switch (answer.code()) {
                case OK -> answer(true);
                case NODEEXISTS -> answer(false);
                default -> {
                    fail(ZooKeeperErrors.CREATE_PATH + spec.path(), answer);
                    maker.leave(unused -> unused.forEach(container -> delete(session, container)));
                }
            }
        }

        private static void delete(Session session, String container) {
            session.zk().multi(List.of(Op.delete(container, -1)), answer -> {
                if (answer.isUnsettled() && !session.isEnded()) {
                    session.later(() -> delete(session, container));
                }
            });
        }

        @Override
        void fail(String what, Answer<?> answer) {
            if (answer.isUnsettled()) {
                fail(new LockConnectionException(
                        "lost the connection to ZooKeeper (" + answer.code() + ") while asking for " + subject()
                                + ": it is not known whether it was changed; change it again"));
            } else {
                super.fail(what, answer);
            }
        }
    }
}
