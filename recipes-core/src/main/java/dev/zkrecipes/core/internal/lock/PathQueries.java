// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.internal.queue.ChildrenSnapshot;
import dev.zkrecipes.core.internal.queue.LockQueue;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.Deadline;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.LockSnapshot;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/** Questions to the server about one lock path, and its rule: each waits for one answer. Thread-safe. */
public final class PathQueries {
    private final LockSpec spec;
    private final LockHost client;

    public PathQueries(LockHost client, LockSpec spec) {
        this.spec = spec;
        this.client = client;
    }

    public List<Participant> participants(Deadline deadline) throws InterruptedException {
        return await(() -> new ParticipantQuery(client, spec, false).launch(), deadline, "the participants of the lock")
                .stream()
                .map(SeenParticipant::participant)
                .toList();
    }

    /** The holders, by the list; no other node is read. */
    public List<SeenParticipant> holders(Deadline deadline) throws InterruptedException {
        return await(() -> new ParticipantQuery(client, spec, true).launch(), deadline, "the holders of the lock");
    }

    public LockSnapshot snapshot() throws InterruptedException {
        return await(() -> new SnapshotQuery(client, spec).launch(), deadline(), "the queue of the lock");
    }

    /**
     * Replaces the rule by the result of {@code change}; creates the path with it if there is none. {@code change} is
     * user code and runs here, on the calling thread; its time does not count against the limit. What it throws is
     * thrown here.
     */
    public void changeRule(Function<Optional<byte[]>, byte[]> change) throws InterruptedException {
        String what = "a change of the rule of the lock";
        Deadline deadline = deadline();
        boolean written = false;
        while (!written) {
            Optional<Content> read = await(() -> new RuleRead(client, spec).launch(), deadline, what);
            long begun = client.scheduler().nanoTime();
            byte[] rule = change.apply(read.map(Content::data));
            deadline = deadline.later(client.scheduler().nanoTime() - begun);
            boolean isSame = read.isPresent() && Arrays.equals(rule, read.get().data());
            written = isSame || await(() -> new RuleWrite(client, spec, rule, read).launch(), deadline, what);
        }
    }

    private Deadline deadline() {
        return Deadline.after(client.requestTimeout(), client.scheduler());
    }

    private <T> T await(Supplier<CompletableFuture<T>> launch, Deadline deadline, String what)
            throws InterruptedException {
        Blocking.requireMayBlock(client.scheduler());
        Blocking.throwIfInterrupted();
        client.requireOpenFor(spec.path());
        CompletableFuture<T> answer = launch.get();
        Optional<T> found = Blocking.await(answer, deadline);
        if (found.isEmpty()) {
            answer.cancel(false);
            throw new LockConnectionException("no answer from ZooKeeper within " + client.requestTimeout()
                    + " to the request for " + what + " " + spec.path() + "; ask again");
        }
        return found.get();
    }

    /** One look at the queue of a lock and at its rule, by one request. */
    private static final class SnapshotQuery extends OneShotRequest<LockSnapshot> {
        SnapshotQuery(LockHost client, LockSpec spec) {
            super(client, spec, "the queue of");
        }

        @Override
        public void ask(Session session) {
            list(session, this::onList);
        }

        private void onList(ChildrenSnapshot list) {
            switch (list.code()) {
                case OK, NONODE -> {
                    LockQueue queue = LockQueue.in(list, spec());
                    Set<LockNode> holding = queue.holding();
                    List<LockSnapshot.Place> places = queue.nodes().stream()
                            .map(node -> new LockSnapshot.Place(node, holding.contains(node)))
                            .toList();
                    answer(new LockSnapshot(list.rule(spec().path()).map(Content::data), places));
                }
                default -> fail("list " + spec().path(), list.answer());
            }
        }
    }

    /** Reads the rule of a lock; empty if its path does not exist. */
    private static final class RuleRead extends OneShotRequest<Optional<Content>> {
        RuleRead(LockHost client, LockSpec spec) {
            super(client, spec, "a change of the rule of");
        }

        @Override
        public void ask(Session session) {
            session.zk().read(spec().path(), answer -> {
                switch (answer.code()) {
                    case OK -> answer(Optional.of(answer.value()));
                    case NONODE -> answer(Optional.empty());
                    default -> fail("read the data of " + spec().path(), answer);
                }
            });
        }
    }
}
