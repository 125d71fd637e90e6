// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.ask;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.acquire.Requests;
import dev.zkrecipes.core.internal.queue.ChildrenSnapshot;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.source.SessionSource;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.Deadline;
import dev.zkrecipes.core.internal.zk.ZooKeeperErrors;
import dev.zkrecipes.core.spi.port.Answer;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * One query about a lock path, or one change of it, in the current session of the client. It is answered, or it fails.
 * It fails if its answer is lost, with one exception: if a server may have refused the client, the request is sent
 * again, because the next answer shows the refusal.
 *
 * <p>Confined to the engine thread, except for {@link #launch} and {@link #await}.
 */
public final class OneShotRequest<T> implements SessionSource.User {
    private final Requests requests;
    private final LockSpec spec;
    private final String subject;
    private final BiConsumer<OneShotRequest<T>, Session> ask;
    private final CompletableFuture<T> result = new CompletableFuture<>();
    private @Nullable Session asked; // the session in which it was sent; confined to the engine thread

    /**
     * {@code subject} names the request in messages, as in "the holders of". {@code ask} sends it; an exception from
     * {@code ask} fails the request.
     */
    public OneShotRequest(
            Requests requests, LockSpec spec, String subject, BiConsumer<OneShotRequest<T>, Session> ask) {
        this.requests = requests;
        this.spec = spec;
        this.subject = subject + " the lock " + spec.path();
        this.ask = ask;
    }

    /** Launches the request. The future completes on the engine thread, or with an error when the client ends. */
    public CompletableFuture<T> launch() {
        requests.ask(spec.path(), result);
        requests.scheduler().execute(() -> requests.sessions().request(this));
        return result;
    }

    /** Launches the request and waits for the answer. If no answer comes in time, withdraws the request and throws. */
    public T await(Deadline deadline) throws InterruptedException {
        Blocking.requireMayBlock(requests.scheduler());
        Blocking.throwIfInterrupted();
        requests.requireOpen(spec.path());
        Optional<T> found = Blocking.await(launch(), deadline);
        if (found.isEmpty()) {
            result.cancel(false);
            throw new LockConnectionException("no answer from ZooKeeper within " + deadline.timeout()
                    + " to the request for " + subject + "; ask again");
        }
        return found.get();
    }

    /**
     * Lists the path; the list is empty if the path does not exist. Children that only look like nodes of another kind
     * of lock are not in it. If one of them really is such a node, the request fails.
     */
    public void list(Session session, Consumer<ChildrenSnapshot> body) {
        LockGroup group = LockGroup.of(spec);
        session.lists().ask(group.query(), guarded(list -> {
            LockGroup.Strangers strangers = list.code() == Code.OK ? group.strangersIn(list) : null;
            if (strangers != null) {
                session.lists().persistent().ask(strangers.paths(), guarded(answer -> {
                    switch (answer.code()) {
                        case OK -> list(session, body);
                        case NODEEXISTS -> fail(strangers.refusal());
                        default -> fail("read the ACL of a node below " + spec.path(), answer);
                    }
                }));
            } else if (list.code() == Code.OK || list.code() == Code.NONODE) {
                body.accept(list);
            } else {
                fail("list " + spec.path(), list.answer());
            }
        }));
    }

    /** Whether the request was answered, has failed, or was withdrawn. */
    boolean isOver() {
        return result.isDone();
    }

    public void answer(T value) {
        result.complete(value);
    }

    public void fail(LockException why) {
        result.completeExceptionally(why);
    }

    /**
     * Fails the request, because a step got no answer or was refused. But if the answer was lost and a server may have
     * refused the client, sends the request again: ZooKeeper's client may not even have read the refusal, and the next
     * answer shows it.
     */
    public void fail(String what, Answer<?> answer) {
        Session session = asked;
        if (answer.isUnsettled() && session != null && session.mayBeRefused()) {
            askAgain(session);
        } else {
            fail(what, answer, "nothing is known of it; ask again");
        }
    }

    /** Requests a session once more, a while later: by then there may be another one. */
    private void askAgain(Session session) {
        session.later(() -> requests.sessions().request(this));
    }

    /** Fails the request. {@code ifLost} is what the message says if the answer was lost. */
    public void fail(String what, Answer<?> answer, String ifLost) {
        fail(
                answer.isUnsettled()
                        ? new LockConnectionException("lost the connection to ZooKeeper (" + answer.code()
                                + ") while asking for " + subject + ": " + ifLost)
                        : ZooKeeperErrors.of(spec.path(), what, answer));
    }

    /** Returns a receiver of answers that passes them on. An exception from {@code receiver} fails the request. */
    <A> Consumer<A> guarded(Consumer<A> receiver) {
        return answer -> {
            try {
                receiver.accept(answer);
            } catch (Exception e) {
                fail(ZooKeeperErrors.ofEngine("asking for " + subject, e));
            }
        };
    }

    @Override
    public String lockPath() {
        return spec.path();
    }

    @Override
    public void unavailable(LockException why) {
        fail(why);
    }

    /**
     * Fails the request, because there is no session now. The query is about this moment, so it does not wait for a
     * session.
     */
    @Override
    public void notNow(LockException why) {
        requests.sessions().forget(this);
        fail(why);
    }

    @Override
    public void with(Session session) {
        if (isOver()) {
            return; // nobody waits for the answer any more
        }
        if (session == asked && !session.isConnected()) {
            // It was already sent in this session and is to be sent again, which requires a connection.
            askAgain(session);
        } else if (!session.isConnected()) {
            fail(requests.notConnected(", so nobody can be asked for " + subject + "; ask again when connected"));
        } else {
            asked = session;
            guarded((Session found) -> ask.accept(this, found)).accept(session);
        }
    }
}
