// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.internal.ask.OneShotRequest;
import dev.zkrecipes.core.internal.clean.ParentMaker;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.queue.ChildrenSnapshot;
import dev.zkrecipes.core.internal.queue.LockQueue;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.thread.Deadline;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.LockSnapshot;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.apache.zookeeper.Op;

/**
 * Reads the queue of one lock path, and reads and changes its rule, which is the data of the path. The calling thread
 * waits for the answers, no longer than the request time-out. If an answer is lost, the request fails with an error
 * that says that the outcome is not known. Thread-safe.
 */
public final class PathQueries {
    private static final String MAYBE_CHANGED = "it is not known whether it was changed; change it again";

    private final LockSpec spec;
    private final EngineClient client;

    public PathQueries(EngineClient client, LockSpec spec) {
        this.spec = spec;
        this.client = client;
    }

    /** Returns the queue and the rule, read by one request. */
    public LockSnapshot snapshot() throws InterruptedException {
        return ask(
                "the queue of",
                (request, session) -> request.list(session, list -> request.answer(snapshot(list))),
                client.requestDeadline());
    }

    private LockSnapshot snapshot(ChildrenSnapshot list) {
        LockQueue queue = list.queue(spec);
        Set<LockNode> holding = queue.holding();
        return new LockSnapshot(
                list.rule(spec.path()).map(Content::data),
                queue.nodes().stream()
                        .map(node -> new LockSnapshot.Place(node, holding.contains(node)))
                        .toList());
    }

    /**
     * Replaces the rule by the result of {@code change}, or creates the path with that result if the path does not
     * exist. If somebody else writes in between, calls {@code change} again with the new rule. {@code change} is user
     * code: it runs on the calling thread, its time does not count against the limit, and its exceptions are passed on
     * to the caller.
     */
    public void changeRule(Function<Optional<byte[]>, byte[]> change) throws InterruptedException {
        String subject = "a change of the rule of";
        Deadline deadline = client.requestDeadline();
        boolean written = false;
        while (!written) {
            Optional<Content> read = ask(subject, this::readRule, deadline);
            long begun = client.scheduler().nanoTime();
            byte[] rule = change.apply(read.map(Content::data));
            deadline = deadline.later(client.scheduler().nanoTime() - begun);
            // An unchanged rule is not written: a write would make every waiting request list the queue again.
            boolean isSame = read.isPresent() && Arrays.equals(rule, read.get().data());
            BiConsumer<OneShotRequest<Boolean>, Session> write = read.isPresent()
                    ? (request, session) -> replaceRule(request, session, rule, read.get())
                    : (request, session) -> makePath(request, session, rule);
            written = isSame || ask(subject, write, deadline);
        }
    }

    private <T> T ask(String subject, BiConsumer<OneShotRequest<T>, Session> question, Deadline deadline)
            throws InterruptedException {
        return new OneShotRequest<>(client.requests(), spec, subject, question).await(deadline);
    }

    // ---- The rule.

    /** Reads the rule; empty if the path does not exist. */
    private void readRule(OneShotRequest<Optional<Content>> request, Session session) {
        session.zk().read(spec.path(), answer -> {
            switch (answer.code()) {
                case OK -> request.answer(Optional.of(answer.value()));
                case NONODE -> request.answer(Optional.empty());
                default -> request.fail("read the data of " + spec.path(), answer);
            }
        });
    }

    /** Writes the rule, unless somebody has written it since it was read. The answer is whether it was written. */
    private void replaceRule(OneShotRequest<Boolean> request, Session session, byte[] rule, Content read) {
        Op write = Op.setData(spec.path(), rule, read.stat().getVersion());
        session.zk().multi(List.of(write), answer -> {
            switch (answer.code()) {
                case OK -> request.answer(true);
                case BADVERSION, NONODE -> request.answer(false);
                default -> request.fail(ZooKeeperErrors.CHANGE_DATA + spec.path(), answer, MAYBE_CHANGED);
            }
        });
    }

    /** Creates the path with the rule as its data. The answer is false if somebody else has created the path. */
    private void makePath(OneShotRequest<Boolean> request, Session session, byte[] rule) {
        ParentMaker maker = new ParentMaker(session, spec.acl());
        maker.make(spec.path(), Optional.of(rule), answer -> {
            switch (answer.code()) {
                case OK -> request.answer(true);
                case NODEEXISTS -> request.answer(false);
                default -> {
                    request.fail(ZooKeeperErrors.CREATE_PATH + spec.path(), answer, MAYBE_CHANGED);
                    leave(maker, session);
                }
            }
        });
    }

    /** Deletes the containers that are left over. Repeats this while no answer comes and the session is alive. */
    private static void leave(ParentMaker maker, Session session) {
        maker.leave(session, isAnswered -> {
            if (!isAnswered && !session.isEnded()) {
                session.later(() -> leave(maker, session));
            }
        });
    }
}
