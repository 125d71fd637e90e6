// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.node;

import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.node.OwnNode.Existence;
import dev.zkrecipes.core.internal.session.ListQuery;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;

/**
 * What a request that is over may have left on the server: its node or, if that was never made, a container that was
 * made for it. Each {@link #remove} asks the server once and reports the verdict; {@link Deletion} decides when to ask
 * again. Confined to the engine thread.
 *
 * <ul>
 *   <li>A node that was created is deleted. ZooKeeper may refuse that for a node that does not exist, because it looks
 *       at the rights first; so after a refusal a read tells whether the node is there.
 *   <li>A node whose create got no answer is looked for behind a committed write, and twice more much later
 *       ({@link NodeCleaner#missed}). If its session has ended, that is when the server must have ended that session
 *       too.
 *   <li>ZooKeeper never removes a container that never had a child, so it is deleted, unless it is in use; also one
 *       that may have been made.
 * </ul>
 */
final class Leftover {
    private final OwnNode node;
    private final EngineScheduler scheduler;
    private boolean wasRefused;

    /** The result of one attempt to remove it. */
    sealed interface Verdict {
        Verdict GONE = new Gone();

        /** Nothing is left. */
        record Gone() implements Verdict {}

        /** It was looked for and is not there, but its session lives. */
        record NotThere() implements Verdict {}

        /** It was looked for and is there: ask again now. */
        record Found() implements Verdict {}

        /** No answer: ask again at the pace of retries. */
        record Again() implements Verdict {}

        /** Nothing is there yet; it may still appear until then. */
        record Later(Duration after) implements Verdict {}

        /** It is there, and the server will not remove it. Each who is told gets an error of its own. */
        record Refused(Supplier<LockException> why) implements Verdict {}
    }

    /**
     * What is left of one request.
     *
     * @param warned whether the server refuses to delete another node of the path
     */
    Leftover(OwnNode node, EngineScheduler scheduler, boolean warned) {
        this.node = node;
        this.scheduler = scheduler;
        this.wasRefused = warned;
    }

    OwnNode node() {
        return node;
    }

    /** Whether there is nothing to ask for. */
    boolean isNothing() {
        return node.existence() == Existence.ABSENT && !hasContainers();
    }

    private boolean hasContainers() {
        return !node.parents().map(ParentMaker::hasMadeNothing).orElse(true);
    }

    /** Whether it is still there when the node's session is closed. */
    boolean outlivesItsSession() {
        return (node.existence() == Existence.ABSENT || isToBeFound()) && hasContainers();
    }

    /** Whether it has to be looked for, which costs one list for all that are looked for at the same time. */
    boolean isToBeFound() {
        return node.existence() == Existence.UNKNOWN || node.existence() == Existence.MISSING;
    }

    /** Asks the server to remove it; the verdict is told once. */
    void remove(Session in, Consumer<Verdict> reply) {
        switch (node.existence()) {
            case IN_FLIGHT -> throw new IllegalStateException("not answered yet: " + node.describe());
            case CREATED -> deleteNode(in, reply);
            case UNKNOWN, MISSING -> lookForNode(in, reply);
            case ABSENT -> deleteContainers(in, reply);
        }
    }

    private void deleteNode(Session in, Consumer<Verdict> reply) {
        if (wasRefused) {
            // Not a plain delete: a server with enableEagerACLCheck refuses one at the cost of the connection.
            in.zk().multi(List.of(Op.delete(node.path(), -1)), answer -> onDeleted(in, answer, reply));
        } else {
            in.zk().delete(node.path(), answer -> onDeleted(in, answer, reply));
        }
    }

    private void onDeleted(Session in, Answer<?> answer, Consumer<Verdict> reply) {
        if (answer.isOk() || answer.code() == Code.NONODE) {
            reply.accept(node.mayBeMadeTwice() && !node.session().isEnded() ? new Verdict.NotThere() : Verdict.GONE);
        } else if (answer.isUnsettled()) {
            reply.accept(new Verdict.Again());
        } else if (answer.code() == Code.AUTHFAILED) {
            reply.accept(afterRefusedCredentials());
        } else {
            wasRefused = true;
            in.zk()
                    .read(
                            node.path(),
                            seen -> reply.accept(seen.code() == Code.NONODE ? Verdict.GONE : refused(answer.code())));
        }
    }

    private Verdict refused(Code code) {
        return new Verdict.Refused(() -> new LockAccessException("ZooKeeper refuses to delete the lock node "
                + node.describe() + " (" + code
                + "); it blocks others until its session ends: give the client DELETE rights on "
                + node.lockPath() + ", or delete the node by hand"));
    }

    private void lookForNode(Session in, Consumer<Verdict> reply) {
        ListQuery query = new ListQuery(List.of(new ListQuery.Part(node.lockPath(), false)));
        in.lists().askBehindWrite(query, list -> {
            Optional<String> found =
                    list.names(node.lockPath()).stream().filter(node::isOurs).findFirst();
            if (found.isPresent()) {
                node.created(found.get(), 0);
                node.count(); // one that was missing did not count any more
                reply.accept(new Verdict.Found());
            } else {
                Verdict verdict = notFound(list.answer());
                boolean isOver = verdict instanceof Verdict.NotThere || verdict instanceof Verdict.Gone;
                if (isOver && hasContainers()) {
                    deleteContainers(in, done -> reply.accept(done instanceof Verdict.Again ? done : verdict));
                } else {
                    reply.accept(verdict);
                }
            }
        });
    }

    private Verdict notFound(Answer<?> answer) {
        boolean seen = answer.isOk() || answer.code() == Code.NONODE; // that there is no such path is an answer too
        long wait = mayStillAppearFor();
        if (answer.isUnsettled()) {
            return new Verdict.Again();
        } else if (answer.code() == Code.AUTHFAILED) {
            return afterRefusedCredentials();
        } else if (wait > 0) {
            return new Verdict.Later(Duration.ofNanos(wait));
        } else if (!seen && !node.session().isEnded()) {
            return refused(answer.code());
        } else {
            return node.session().isEnded() ? Verdict.GONE : new Verdict.NotThere();
        }
    }

    /** The client was told of that already. The server deletes the node with its session, which it ends. */
    private Verdict afterRefusedCredentials() {
        long wait = mayStillAppearFor();
        if (!node.session().isEnded()) {
            return new Verdict
                    .Again(); // its end is on the way here, or it is another session whose credentials are wrong
        }
        return wait > 0 ? new Verdict.Later(Duration.ofNanos(wait)) : Verdict.GONE;
    }

    /** Nanoseconds until the server must have ended the node's session too; 0 if that session still lives here. */
    private long mayStillAppearFor() {
        Session session = node.session();
        if (!session.isEnded()) {
            return 0;
        }
        long serverEnd = session.endedAt() + session.timeoutNanos() * 3 / 2;
        return Math.max(0, serverEnd - scheduler.nanoTime());
    }

    private void deleteContainers(Session in, Consumer<Verdict> reply) {
        node.parents().orElseThrow().leave(unused -> deleteContainers(in, unused, reply));
    }

    /** One that is used, gone, or not ours to delete locks nobody out. */
    private static void deleteContainers(Session in, List<String> paths, Consumer<Verdict> reply) {
        if (paths.isEmpty()) {
            reply.accept(Verdict.GONE);
            return;
        }
        in.zk().multi(List.of(Op.delete(paths.get(0), -1)), answer -> {
            if (answer.isUnsettled()) {
                reply.accept(new Verdict.Again());
            } else {
                deleteContainers(in, paths.subList(1, paths.size()), reply);
            }
        });
    }
}
