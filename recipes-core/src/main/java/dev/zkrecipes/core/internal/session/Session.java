// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.internal.thread.Guarded;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.ErrorResult;

/**
 * One session: how it stands, what proves that it lives, and what hangs on it.
 *
 * <p><b>Proof.</b> Only a committed write proves that the ensemble, and not just one server, still holds the session.
 * {@code provenAt} is the time at which the last one was <em>sent</em>; half a session time-out later the proof is
 * stale, because the leader's clock for the session may run up to a third of it plus half a tick ahead of us. A
 * disconnect voids the proof until a write is sent after it and committed. A stop of the process makes it count for less,
 * see {@link PauseDetector}.
 *
 * <p>Confined to the engine thread, but for {@link #isProven()}, {@link #isOutlived()} and what never changes.
 */
public final class Session {
    private final EngineScheduler scheduler;
    private final Duration retryDelay;
    private final PauseDetector.Contact contact;
    private final ZooKeeperOperations operations;
    private final WatchRegistry watches;
    private final KeepAlive leases;
    private final ListBatcher lists;
    private final SessionNodes nodes;
    private final CheckedAcls checkedPaths = new CheckedAcls();
    private final Set<SessionObserver> observers = new LinkedHashSet<>();
    private final BiConsumer<Session, State> onState;

    private State state = State.CONNECTING;
    private long endedAt;
    private long connectedAt;
    private volatile long timeoutNanos;
    private volatile Proof proof;

    /**
     * What committed writes have proven.
     *
     * @param sentAt when the last of them was sent
     * @param asOf what it counts as: the same, or earlier
     * @param connected whether the connection has stood since
     */
    private record Proof(long sentAt, long asOf, boolean connected) {}

    /**
     * Opens a session.
     *
     * @param onState told every change first; by the time it returns from a final one, the next session is on its way
     */
    public Session(
            ZooKeeperOperations.Factory factory,
            EngineScheduler scheduler,
            Duration retryDelay,
            PauseDetector pulse,
            BiConsumer<Session, State> onState) {
        this.scheduler = scheduler;
        this.retryDelay = retryDelay;
        this.contact = pulse.new Contact();
        this.onState = onState;
        this.proof = new Proof(scheduler.nanoTime(), scheduler.nanoTime(), false);
        this.operations = factory.open(this::become);
        this.nodes = new SessionNodes(operations);
        this.watches = new WatchRegistry(this);
        this.leases = new KeepAlive(this, scheduler);
        this.lists = new ListBatcher(this, scheduler);
    }

    /** Takes up the state that the handle is in already. */
    public void begin() {
        become(operations.initialState());
    }

    public ZooKeeperOperations zk() {
        return operations;
    }

    public WatchRegistry watches() {
        return watches;
    }

    public ListBatcher lists() {
        return lists;
    }

    public SessionNodes nodes() {
        return nodes;
    }

    public CheckedAcls checkedPaths() {
        return checkedPaths;
    }

    public KeepAlive leases() {
        return leases;
    }

    public boolean isConnected() {
        return state == State.CONNECTED;
    }

    public boolean isEnded() {
        return state.isFinal();
    }

    public State state() {
        return state;
    }

    public long endedAt() {
        return endedAt;
    }

    /** T, the negotiated time-out; 0 before the first connection. Any thread. */
    public long timeoutNanos() {
        return timeoutNanos;
    }

    public void observe(SessionObserver observer) {
        observers.add(observer);
    }

    public void ignore(SessionObserver observer) {
        observers.remove(observer);
    }

    /** A write that was sent at {@code sentAt} has been committed. */
    public void committed(long sentAt) {
        Proof old = proof;
        boolean afterReconnect = isConnected() && sentAt - connectedAt >= 0;
        if (sentAt - old.sentAt() >= 0) {
            long asOf = contact.provenAsOf(sentAt);
            // What was proven before still is, if this one proves less.
            proof = new Proof(sentAt, asOf - old.asOf() > 0 ? asOf : old.asOf(), afterReconnect || old.connected());
        }
    }

    /**
     * Sends one {@code multi} of checks: a small committed write, which is OK if all paths exist. Its answer comes
     * before that of any request that is sent after it.
     */
    public void check(List<String> paths, Consumer<Answer<List<OpResult>>> reply) {
        long sentAt = scheduler.nanoTime();
        operations.multi(paths.stream().map(path -> Op.check(path, -1)).toList(), answer -> {
            if (answer.isOk()) {
                committed(sentAt);
            }
            reply.accept(answer);
        });
    }

    /** Which of the checked paths does not exist, if the answer to {@link #check} was NONODE. */
    public static int firstMissing(List<OpResult> results) {
        for (int i = 0; i < results.size(); i++) {
            if (results.get(i) instanceof ErrorResult error && error.getErr() == Code.NONODE.intValue()) {
                return i;
            }
        }
        throw new IllegalStateException("a multi failed with NONODE and none of its operations did");
    }

    /** Whether a committed write that was sent less than T/2 ago, in this connection, proves the session. Any thread. */
    public boolean isProven() {
        Proof current = proof;
        return current.connected() && scheduler.nanoTime() - current.asOf() < timeoutNanos / 2;
    }

    /** Whether T has passed since the last committed write was sent: the lock may be somebody else's. Any thread. */
    public boolean isOutlived() {
        long sentAt = proof.sentAt();
        return scheduler.nanoTime() - sentAt >= timeoutNanos;
    }

    /** Whether a lease may start on the present proof: it is younger than T/6. */
    public boolean isFreshlyProven() {
        return proof.connected() && scheduler.nanoTime() - proof.asOf() < timeoutNanos / 6;
    }

    public long provenAt() {
        return proof.sentAt();
    }

    /** Runs a task after the longest retry delay. */
    public void later(Runnable task) {
        scheduler.schedule(retryDelay, task);
    }

    /** Also called by those who get an answer that tells of the session's end before its event comes. */
    public void become(State next) {
        if (isEnded() || next == state || next == State.CONNECTING) {
            return;
        }
        state = next;
        switch (next) {
            case CONNECTED -> {
                connectedAt = scheduler.nanoTime();
                timeoutNanos = operations.sessionTimeout().toNanos();
            }
            case CONNECTING -> throw new IllegalStateException("no way back");
            case READ_ONLY, DISCONNECTED -> proof = new Proof(proof.sentAt(), proof.asOf(), false);
            case EXPIRED, CLOSED, AUTH_FAILED -> {
                proof = new Proof(proof.sentAt(), proof.asOf(), false);
                endedAt = scheduler.nanoTime();
            }
        }
        Guarded.run(() -> onState.accept(this, next));
        tellObservers(next);
    }

    private void tellObservers(State next) {
        if (next == State.CONNECTED) {
            Guarded.run(watches::onConnected);
            Guarded.run(leases::onConnected);
            List.copyOf(observers).forEach(observer -> Guarded.run(observer::onConnected));
        } else if (next.isFinal()) {
            Guarded.run(() -> leases.onEnded(next));
            List.copyOf(observers).forEach(observer -> Guarded.run(() -> observer.onEnded(next)));
            observers.clear();
        }
    }
}
