// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import com.google.common.base.Throwables;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.Deadline;
import dev.zkrecipes.core.spi.LockSnapshot;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;

/** Questions to the server about one lock path, and its rule: each waits for one answer. Thread-safe. */
public final class PathQueries {
    private final LockSpec target;
    private final EngineClient client;

    public PathQueries(LockSpec target) {
        this.target = target;
        this.client = target.client();
    }

    /** Who takes part. */
    public List<Participant> participants(Deadline deadline) throws InterruptedException {
        return await(() -> new ParticipantQuery(target).launch(), deadline, "who takes part in the lock");
    }

    /** The queue and the rule. */
    public LockSnapshot snapshot() throws InterruptedException {
        return await(() -> new SnapshotQuery(target).launch(), deadline(), "who is in the queue of the lock");
    }

    /**
     * Replaces the rule by what {@code change} makes of it; without a path, makes the path with it. Throws what
     * {@code change} throws.
     */
    public void changeRule(Function<Optional<byte[]>, byte[]> change) throws InterruptedException {
        await(() -> new RuleChange(target, change).launch(), deadline(), "a change of the rule of the lock")
                .ifPresent(thrown -> {
                    Throwables.throwIfUnchecked(thrown);
                    throw new IllegalStateException("a change of a rule threw a checked exception", thrown);
                });
    }

    private Deadline deadline() {
        return Deadline.after(client.requestTimeout(), client.scheduler());
    }

    private <T> T await(Supplier<CompletableFuture<T>> launch, Deadline deadline, String what)
            throws InterruptedException {
        Blocking.requireMayBlock(client);
        Blocking.throwIfInterrupted();
        client.requireOpenFor(target.path());
        CompletableFuture<T> answer = launch.get();
        Optional<T> found = Blocking.await(answer, deadline);
        if (found.isEmpty()) {
            answer.cancel(false);
            throw new LockConnectionException("no answer from ZooKeeper within " + client.requestTimeout() + " to "
                    + what + " " + target.path() + "; ask again");
        }
        return found.get();
    }
}
