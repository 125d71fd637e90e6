// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.node;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.session.SessionSource;
import dev.zkrecipes.core.internal.thread.Backoff;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Children;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes nodes until a server confirms that they are gone. Releases and abandoned attempts both end here.
 *
 * <p>A deletion uses the node's own session while that lives, then the client's next one: a session that ended for us
 * may live on at the server, and its nodes would block everybody. A node whose create was never answered is looked for
 * behind a committed write of its own session, after which it cannot appear any more; if that session has ended, it is
 * looked for at once and once more when the server must have ended it too.
 *
 * <p>A deletion that ZooKeeper refuses is told of at once, to those who wait for it and in the log, and tried again from
 * time to time, as long as there is a session.
 *
 * <p>At most {@value #WINDOW} deletions are under way at a time; the others wait in a queue. Confined to the engine
 * thread.
 */
public final class NodeCleaner {
    private static final Logger log = LoggerFactory.getLogger(NodeCleaner.class);
    private static final int WINDOW = 100;

    private final EngineClient client;
    private final Map<String, Set<Deletion>> pending = new HashMap<>();
    private final Deque<Deletion> ready = new ArrayDeque<>();
    private int underWay;
    private boolean pumping;

    public NodeCleaner(EngineClient client) {
        this.client = client;
    }

    /**
     * Sees to it that the nodes, of one session, are gone. Several are deleted by one {@code multi}, if they are there;
     * otherwise each by itself. Who leaves an old counter, and saw nobody else, starts it anew by the way.
     *
     * @return a future for each, which completes when it is gone
     */
    @CanIgnoreReturnValue
    public List<CompletableFuture<Void>> discard(List<OwnNode> nodes) {
        List<Deletion> deletions = nodes.stream().map(Deletion::new).toList();
        for (Deletion deletion : deletions) {
            pending.computeIfAbsent(deletion.node.lockPath(), path -> new LinkedHashSet<>())
                    .add(deletion);
        }
        boolean now = nodes.stream().allMatch(NodeCleaner::canBeDeletedNow);
        if (now && nodes.stream().anyMatch(OwnNode::leavesOldCounter)) {
            startAnew(deletions);
        } else if (now && nodes.size() > 1) {
            deleteTogether(deletions);
        } else {
            deletions.forEach(deletion -> deletion.node.whenAnswered(deletion::begin));
        }
        return deletions.stream().map(deletion -> deletion.done).toList();
    }

    private static boolean canBeDeletedNow(OwnNode node) {
        return node.existence() == OwnNode.Existence.CREATED && node.session().isConnected();
    }

    private void startAnew(List<Deletion> deletions) {
        deletions.forEach(deletion -> deletion.to(Phase.TOGETHER));
        List<OwnNode> nodes = deletions.stream().map(deletion -> deletion.node).toList();
        new CounterReset(nodes.get(0).session())
                .leave(
                        nodes.stream().filter(OwnNode::leavesOldCounter).toList(),
                        nodes.stream().filter(node -> !node.leavesOldCounter()).toList(),
                        answer -> {
                            if (answer.isOk() || nodes.size() == 1) {
                                afterMulti(deletions, answer);
                            } else if (deletions.get(0).phase == Phase.TOGETHER) {
                                deleteTogether(deletions); // somebody came, or has no right to make the path again
                            }
                        });
    }

    private void deleteTogether(List<Deletion> deletions) {
        List<Op> operations = new ArrayList<>();
        for (Deletion deletion : deletions) {
            deletion.to(Phase.TOGETHER);
            operations.add(Op.delete(deletion.node.path(), -1));
        }
        deletions.get(0).node.session().zk().multi(operations, answer -> afterMulti(deletions, answer));
    }

    private static void afterMulti(List<Deletion> deletions, Answer<?> answer) {
        for (Deletion deletion : deletions) {
            // Otherwise the client was closed meanwhile.
            if (deletion.phase == Phase.TOGETHER) {
                if (answer.isOk()) {
                    deletion.finish();
                } else {
                    deletion.begin();
                }
            }
        }
    }

    /** Sends at once what waits for a better time on this path: nobody shall queue behind his own ghost. */
    public void flush(String lockPath) {
        List.copyOf(pending.getOrDefault(lockPath, Set.of())).forEach(Deletion::hurry);
    }

    /** A session was connected or has ended: everything that waited for that goes on. */
    public void wake() {
        all().filter(deletion -> deletion.phase == Phase.PARKED).toList().forEach(Deletion::begin);
    }

    /** Whether a node of another session than these is still to be deleted. */
    public boolean hasNodesBeside(Collection<Session> sessions) {
        return all().anyMatch(deletion -> !sessions.contains(deletion.node.session()));
    }

    /** Completes when nothing is left to delete of what is known now; never exceptionally. */
    public CompletableFuture<Void> idle() {
        return CompletableFuture.allOf(all().map(deletion -> deletion.done).toArray(CompletableFuture<?>[]::new))
                .exceptionally(refused -> null);
    }

    /** The client is closed: nobody is left to delete anything, the end of the sessions does. */
    public void abandonAll() {
        ready.clear();
        all().toList().forEach(deletion -> deletion.finish());
    }

    public boolean isEmpty() {
        return pending.isEmpty();
    }

    private Stream<Deletion> all() {
        return pending.values().stream().flatMap(Set::stream);
    }

    private void pump() {
        if (pumping) {
            return; // a deletion that ended at once: the loop below goes on with the next
        }
        pumping = true;
        try {
            while (underWay < WINDOW && !ready.isEmpty()) {
                ready.remove().send();
            }
        } finally {
            pumping = false;
        }
    }

    private enum Phase {
        /** Its create is not answered yet. */
        BORN,
        /** Under way with others in one request. */
        TOGETHER,
        /** In the queue. */
        READY,
        /** Waiting for a session to be opened. */
        SEEKING,
        /** Waiting for a connection. */
        PARKED,
        /** Waiting for an answer. */
        UNDER_WAY,
        /** Waiting for a better time. */
        DELAYED,
        /** Finished. */
        DONE
    }

    /** One node on its way out. */
    private final class Deletion implements SessionSource.User {
        private final OwnNode node;
        private final CompletableFuture<Void> done = new CompletableFuture<>();
        private final Backoff backoff =
                new Backoff(client.settings(), client.scheduler().random());
        private Phase phase = Phase.BORN;
        private @Nullable Timer delay;
        private boolean refused;
        private Answer<?> settled = Answer.failed(Code.CONNECTIONLOSS);

        Deletion(OwnNode node) {
            this.node = node;
        }

        private void to(Phase next) {
            underWay += (next == Phase.UNDER_WAY ? 1 : 0) - (phase == Phase.UNDER_WAY ? 1 : 0);
            phase = next;
            if (delay != null) {
                delay.cancel();
                delay = null;
            }
        }

        void begin() {
            if (phase != Phase.DONE) {
                to(Phase.READY);
                ready.add(this);
                pump();
            }
        }

        void hurry() {
            if (phase == Phase.DELAYED || (phase == Phase.READY && ready.remove(this))) {
                send();
            }
        }

        private void send() {
            try {
                if (node.existence() == OwnNode.Existence.ABSENT) {
                    finish();
                } else if (!node.session().isEnded()) {
                    with(node.session());
                } else {
                    to(Phase.SEEKING);
                    client.sessions().request(this);
                }
            } catch (RuntimeException e) {
                log.error("Cannot delete the lock node {} now; trying again.", node.describe(), e);
                again(backoff.next());
            }
        }

        @Override
        public void with(Session session) {
            if (phase == Phase.DONE) {
                return;
            }
            if (!session.isConnected()) {
                to(Phase.PARKED);
                return;
            }
            to(Phase.UNDER_WAY);
            if (node.existence() == OwnNode.Existence.CREATED && refused) {
                // Not a plain delete: a server with enableEagerACLCheck refuses one at the cost of the connection.
                session.zk().multi(List.of(Op.delete(node.path(), -1)), whileUnderWay(this::onDeleted));
            } else if (node.existence() == OwnNode.Existence.CREATED) {
                session.zk().delete(node.path(), whileUnderWay(this::onDeleted));
            } else {
                session.check(List.of(node.lockPath()), answer -> settled = answer);
                session.zk().children(node.lockPath(), whileUnderWay(this::onListed));
            }
        }

        @Override
        public String lockPath() {
            return node.lockPath();
        }

        @Override
        public void unavailable(LockException why) {
            // No session is left to delete with; the server deletes the node when it ends the node's session.
            finish();
        }

        private <T> Consumer<Answer<T>> whileUnderWay(Consumer<Answer<T>> body) {
            return answer -> {
                if (phase == Phase.UNDER_WAY) {
                    body.accept(answer);
                }
            };
        }

        private void onListed(Answer<Children> answer) {
            for (Answer<?> part : List.of(settled, answer)) {
                // That there is no such path is an answer too, and a committed one.
                if (!part.isOk() && part.code() != Code.NONODE) {
                    retryOrSaySo(part);
                    return;
                }
            }
            Optional<String> found = answer.isOk()
                    ? answer.value().names().stream().filter(node::isOurs).findFirst()
                    : Optional.empty();
            long wait = mayStillAppearFor();
            if (found.isPresent()) {
                node.created(found.get(), 0);
                send();
            } else if (wait > 0) {
                again(Duration.ofNanos(wait));
            } else {
                finish();
            }
        }

        /** Nanoseconds until the server must have ended the node's session too; 0 if that session still lives here. */
        private long mayStillAppearFor() {
            Session session = node.session();
            if (!session.isEnded()) {
                return 0;
            }
            long serverEnd = session.endedAt() + session.timeoutNanos() * 3 / 2;
            return serverEnd - client.scheduler().nanoTime();
        }

        private void onDeleted(Answer<?> answer) {
            if (answer.isOk() || answer.code() == Code.NONODE) {
                finish();
            } else {
                retryOrSaySo(answer);
            }
        }

        /** Those who wait are told of a refusal; the deletion goes on, slowly, for the rights may be mended. */
        private void retryOrSaySo(Answer<?> answer) {
            if (answer.isUnsettled()) {
                again(backoff.next());
                return;
            }
            if (!refused) {
                refused = true;
                LockAccessException refusal = new LockAccessException("ZooKeeper refuses to delete the lock node "
                        + node.describe() + " (" + answer.code()
                        + "); it blocks others until its session ends: give the"
                        + " client DELETE rights on " + node.lockPath() + ", or delete the node by hand");
                log.warn("{}.", refusal.getMessage());
                done.completeExceptionally(refusal);
            }
            again(client.requestTimeout());
        }

        private void again(Duration after) {
            to(Phase.DELAYED);
            delay = client.scheduler().schedule(after, () -> {
                delay = null;
                begin();
            });
            pump();
        }

        private void finish() {
            if (phase == Phase.DONE) {
                return;
            }
            to(Phase.DONE);
            node.uncount();
            Set<Deletion> ofPath = pending.get(node.lockPath());
            if (ofPath != null && ofPath.remove(this) && ofPath.isEmpty()) {
                pending.remove(node.lockPath());
            }
            done.complete(null);
            pump();
        }
    }
}
