// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import dev.zkrecipes.core.spi.port.Answer;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/** A request sent through one connection: a write for the leader, or a read for the server at the other end. */
final class SentRequest<T> {
    private final String what;
    private final @Nullable Write<T> write;
    private final @Nullable Read<T> read;
    private final Consumer<Answer<T>> hearing;
    private final @Nullable Consumer<Answer<T>> reply;
    private @Nullable Answer<T> answer; // set at the server, before it reaches the client
    private boolean endsSession;

    /** A change of the tree, which the leader carries out. */
    @FunctionalInterface
    interface Write<T> {
        /** Carries the change out. If the answer is not OK, the changes are discarded. */
        Answer<T> apply(Draft draft);
    }

    /** A read that a server answers by itself, from the transactions that it has applied. */
    @FunctionalInterface
    interface Read<T> {
        Answer<T> apply(SimulatedServer server, Connection connection);
    }

    /**
     * Creates a request.
     *
     * @param hearing gets the answer first, on the handle's own thread
     * @param reply gets the answer on the engine thread; null if the request is not one of the engine's
     */
    private SentRequest(
            String what,
            @Nullable Write<T> write,
            @Nullable Read<T> read,
            Consumer<Answer<T>> hearing,
            @Nullable Consumer<Answer<T>> reply) {
        this.what = what;
        this.write = write;
        this.read = read;
        this.hearing = hearing;
        this.reply = reply;
    }

    static <T> SentRequest<T> write(String what, Write<T> write, Consumer<Answer<T>> reply) {
        return new SentRequest<>(what, write, null, answer -> {}, reply);
    }

    static <T> SentRequest<T> read(String what, Read<T> read, Consumer<Answer<T>> reply) {
        return new SentRequest<>(what, null, read, answer -> {}, reply);
    }

    static <T> SentRequest<T> read(String what, Read<T> read, Consumer<Answer<T>> hearing, Consumer<Answer<T>> reply) {
        return new SentRequest<>(what, null, read, hearing, reply);
    }

    /** Returns a write that the handle sends on its own behalf. */
    static <T> SentRequest<T> ownWrite(String what, Write<T> write, Consumer<Answer<T>> hearing) {
        return new SentRequest<>(what, write, null, hearing, null);
    }

    /** Returns a read that the handle sends on its own behalf. */
    static <T> SentRequest<T> ownRead(String what, Read<T> read, Consumer<Answer<T>> hearing) {
        return new SentRequest<>(what, null, read, hearing, null);
    }

    SentRequest<T> endingTheSession() {
        endsSession = true;
        return this;
    }

    boolean endsSession() {
        return endsSession;
    }

    boolean isWrite() {
        return write != null;
    }

    boolean isAnswered() {
        return answer != null;
    }

    boolean isRefusedAs(Code code) {
        Answer<T> made = answer;
        return made != null && made.code() == code;
    }

    /** Answers a read now. */
    void answerBy(SimulatedServer server, Connection connection) {
        if (read != null) {
            answer = read.apply(server, connection);
        }
    }

    /** Carries a write out. */
    Transaction toTransaction(Draft draft, long session) {
        if (write == null) {
            throw new IllegalStateException("not a write: " + what);
        }
        return Transaction.of(draft, write, endsSession ? session : 0);
    }

    @SuppressWarnings("unchecked") // the answer from this request's own write, or a failure
    void answerWith(Answer<?> made) {
        answer = (Answer<T>) made;
    }

    /** Passes the server's answer on, which has arrived at the client. */
    void arrive(Executor engine) {
        Answer<T> made = answer;
        if (made != null) {
            tell(made, engine);
        }
    }

    /** Fails the request, because no answer will come. The server may carry it out all the same. */
    void fail(Code code, Executor engine) {
        tell(Answer.failed(code), engine);
    }

    private void tell(Answer<T> told, Executor engine) {
        hearing.accept(told);
        Consumer<Answer<T>> asker = reply;
        if (asker != null) {
            engine.execute(() -> asker.accept(told));
        }
    }

    @Override
    public String toString() {
        Answer<T> made = answer;
        return made == null || made.isOk() ? what : what + ": " + made.code();
    }
}
