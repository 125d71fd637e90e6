// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.spi.Answer;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.ZooKeeperOperations.Content;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;

/** One look at who takes part in a lock: a list, then all nodes read at once. */
final class ParticipantQuery implements SessionSource.User {
    private final LockTarget target;
    private final EngineClient client;
    private final CompletableFuture<List<Participant>> result = new CompletableFuture<>();
    private final Map<String, Answer<Content>> contents = new HashMap<>();

    ParticipantQuery(LockTarget target) {
        this.target = target;
        this.client = target.client();
    }

    /** Sends the query; the future completes on the engine thread. */
    CompletableFuture<List<Participant>> launch() {
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
        if (!session.isConnected()) {
            result.completeExceptionally(new LockConnectionException("not connected to ZooKeeper, so it cannot be seen"
                    + " who takes part in the lock " + target.path() + "; ask again when connected"));
            return;
        }
        session.lists().ask(LockTargets.of(target).query(), look -> {
            switch (look.code()) {
                case OK -> readAll(session, look);
                case NONODE -> result.complete(List.of());
                default -> fail("list " + target.path(), look.answer());
            }
        });
    }

    private void readAll(Session session, Look look) {
        LockQueue queue;
        try {
            queue = look.queue(target);
        } catch (LockException e) {
            result.completeExceptionally(e);
            return;
        }
        if (queue.nodes().isEmpty()) {
            result.complete(List.of());
        }
        for (LockNode node : queue.nodes()) {
            session.zk().read(LockPath.child(target.path(), node.name()), answer -> {
                contents.put(node.name(), answer);
                if (contents.size() == queue.nodes().size()) {
                    try {
                        complete(queue);
                    } catch (LockException e) {
                        result.completeExceptionally(e);
                    }
                }
            });
        }
    }

    private void complete(LockQueue queue) {
        Instant now = client.scheduler().wallClock();
        List<Participant> participants = new ArrayList<>();
        for (LockNode node : queue.nodes()) {
            Answer<Content> answer = contents.getOrDefault(node.name(), Answer.failed(Code.NONODE));
            if (answer.isOk()) {
                Stat stat = answer.value().stat();
                Duration age = Duration.between(Instant.ofEpochMilli(stat.getCtime()), now);
                participants.add(new Participant(
                        node.name(),
                        node.kind(),
                        node.payload(),
                        OwnerLabel.decode(answer.value().data()),
                        stat.getEphemeralOwner(),
                        age.isNegative() ? Duration.ZERO : age,
                        participants.size(),
                        queue.holds(node)));
            } else if (answer.code() == Code.NOAUTH) {
                participants.add(new Participant(
                        node.name(),
                        node.kind(),
                        node.payload(),
                        OwnerLabel.UNKNOWN,
                        0,
                        Duration.ZERO,
                        participants.size(),
                        queue.holds(node)));
            } else if (answer.code() != Code.NONODE) {
                fail("read " + node.name(), answer);
                return;
            }
        }
        result.complete(List.copyOf(participants));
    }

    private void fail(String what, Answer<?> answer) {
        result.completeExceptionally(
                answer.isUnsettled()
                        ? new LockConnectionException("lost the connection to ZooKeeper (" + answer.code()
                                + ") while asking who takes part in the lock " + target.path() + "; ask again")
                        : Refusal.of(target.path(), what, answer.code()));
    }
}
