// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import dev.zkrecipes.core.internal.handle.Containers;
import dev.zkrecipes.core.internal.handle.MeasuredOperations;
import dev.zkrecipes.core.internal.handle.PauseDetector;
import dev.zkrecipes.core.internal.reads.CheckedAcls;
import dev.zkrecipes.core.internal.reads.ListBatcher;
import dev.zkrecipes.core.internal.reads.WatchRegistry;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.ErrorResult;
import org.jspecify.annotations.Nullable;

/**
 * One session: its state, the {@linkplain SessionProof proof} that it lives, and what belongs to it.
 *
 * <p>Confined to the engine thread, but for {@link #isProven()}, {@link #isOutlived()}, {@link #isTakenForLost()} and
 * what never changes.
 */
public final class Session {
    /** Why leases are lost when the session {@link #isOutlived}. */
    public static final String OUTLIVED = "no server has confirmed the session for a whole session time-out";

    private static final Duration A_LONG_WHILE = Duration.ofMinutes(1);

    /** Hears of the state of a session, on the engine thread. */
    public interface Observer {
        void onConnected();

        /** It has ended with {@code state}; a client that can have another one has asked for it already. */
        void onEnded(State state);
    }

    private final EngineScheduler scheduler;
    private final Duration retryDelay;
    private final SessionReports reports;
    private final MeasuredOperations operations;
    private final PauseDetector pauses;
    private final WatchRegistry watches;
    private final KeepAlive keepAlive;
    private final ListBatcher lists;
    private final SessionNodes nodes;
    private final CheckedAcls checkedAcls;
    private List<Consumer<Answer<?>>> askedForProof = new ArrayList<>();
    private final Set<Observer> observers = new LinkedHashSet<>();
    private final BiConsumer<Session, State> onState;

    private volatile State state = State.CONNECTING;
    private volatile long endedAt; // when the last connection did, while there is none
    private volatile boolean
            takenForLost; // its leases are lost by the clock, and nothing has shown since that it lives
    private Runnable onTakenForLost = () -> {};
    private Runnable onBeat = () -> {};
    private @Nullable Timer untilGivenUp;
    private long connectedAt;
    private int connections;
    private volatile long timeoutNanos;
    private volatile SessionProof proof;

    /**
     * Opens a session; one that is not new may be of any age. {@code onState} is told every change first; by the time
     * it returns from a final one, the next session is on its way.
     */
    public Session(
            ZooKeeperOperations.Factory handles,
            EngineScheduler scheduler,
            Containers containers,
            Duration timeout,
            Duration retryDelay,
            boolean isNew,
            BiConsumer<Session, State> onState) {
        this.scheduler = scheduler;
        this.retryDelay = retryDelay;
        this.onState = onState;
        long now = scheduler.nanoTime();
        this.reports = isNew ? new SessionReports(now) : SessionReports.ofUnknown(now);
        this.proof = SessionProof.ofNothing(now, reports.reportedAt());
        this.operations = new MeasuredOperations(handles, scheduler, containers, this::become);
        this.pauses = new PauseDetector(scheduler, timeout, () -> {
            operations.beat();
            onBeat.run();
        });
        this.nodes = new SessionNodes(operations);
        this.checkedAcls = new CheckedAcls(operations);
        this.watches = new WatchRegistry(operations, () -> state, this::later, this::afterALongWhile);
        this.keepAlive = new KeepAlive(this, scheduler);
        this.lists = new ListBatcher(operations, scheduler, this::check);
    }

    /** Is told, on the engine thread, when {@link #isTakenForLost()} changes while the state does not. */
    public void onTakenForLost(Runnable told) {
        onTakenForLost = told;
    }

    /** Is told, on the engine thread, sixteen times in a session time-out, and once after a pause of the process. */
    public void onBeat(Runnable told) {
        onBeat = told;
    }

    public void begin() {
        pauses.begin();
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

    public CheckedAcls checkedAcls() {
        return checkedAcls;
    }

    public KeepAlive keepAlive() {
        return keepAlive;
    }

    public boolean isConnected() {
        return state == State.CONNECTED;
    }

    public int connection() {
        return connections;
    }

    /** Changes with each connection and each missed event: what was seen before may be out of order. */
    public int order() {
        return connections + watches.missedEvents();
    }

    public boolean isEnded() {
        return state.isFinal();
    }

    public State state() {
        return state;
    }

    /**
     * Whether what was lost with a connection may have been refused: a server that wants another identity answers one
     * request, cuts the connection, and ZooKeeper's client may not even read that. Asked again, it is told.
     */
    public boolean mayBeRefused() {
        return !operations.hasAnswered();
    }

    /** Whether it has ended because no server answered it. */
    public boolean isGivenUp() {
        return operations.isGivenUp();
    }

    /** How long until the server must have ended it, too; zero when it must have by now, or while it lives here. */
    public Duration untilEndedByServer() {
        long left = isEnded() ? endedAt + timeoutNanos * 3 / 2 - scheduler.nanoTime() : 0;
        return Duration.ofNanos(Math.max(0, left));
    }

    /** T, the negotiated time-out; 0 before the first connection. Any thread. */
    public long timeoutNanos() {
        return timeoutNanos;
    }

    public void observe(Observer observer) {
        observers.add(observer);
    }

    public void ignore(Observer observer) {
        observers.remove(observer);
    }

    public void committed(long sentAt) {
        committed(sentAt, true);
    }

    /**
     * A write has been committed. Unless it {@code findsAll} nodes that the session holds, it proves that the session
     * lives, but after a reconnect the leases are not valid yet.
     */
    private void committed(long sentAt, boolean findsAll) {
        SessionProof old = proof;
        boolean afterReconnect = findsAll && isConnected() && sentAt - connectedAt >= 0;
        if (sentAt - old.sentAt() >= 0) {
            long asOf = pauses.provenAsOf(sentAt);
            reports.onCommitted(sentAt, scheduler.nanoTime(), timeoutNanos);
            proof = old.with(sentAt, asOf, reports.reportedAt(), afterReconnect || old.connected());
        }
        if (takenForLost && isConnected()) {
            takenForLost = false;
            onTakenForLost.run();
        }
    }

    /**
     * Sends one {@code multi} of checks: a small committed write, which is OK if all paths exist. That one does not is
     * an answer of the leader too, and as committed.
     */
    public void check(List<String> paths, Consumer<Answer<List<OpResult>>> reply) {
        check(paths, () -> true, reply);
    }

    /** If all exist, it is asked whether it {@code isLast}: whether no others are still to be looked for. */
    void check(List<String> paths, BooleanSupplier isLast, Consumer<Answer<List<OpResult>>> reply) {
        long sentAt = scheduler.nanoTime();
        operations.multi(paths.stream().map(path -> Op.check(path, -1)).toList(), answer -> {
            if (answer.isOk() || answer.code() == Code.NONODE) {
                committed(sentAt, answer.isOk() && isLast.getAsBoolean());
            }
            reply.accept(answer);
        });
    }

    /**
     * Sends one committed write for all requests that need one while the engine is busy with other tasks. It is OK if
     * the path exists; which path is checked does not matter to the proof.
     */
    public void prove(String path, Consumer<Answer<?>> reply) {
        if (askedForProof.isEmpty()) {
            scheduler.execute(() -> {
                List<Consumer<Answer<?>>> asked = askedForProof;
                askedForProof = new ArrayList<>();
                check(List.of(path), answer -> asked.forEach(each -> each.accept(answer)));
            });
        }
        askedForProof.add(reply);
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

    /** Whether a committed write, in this connection, proves that the session lives now. Any thread. */
    public boolean isProven() {
        return proof.remaining(timeoutNanos, scheduler.nanoTime()) > 0;
    }

    /** Whether T has passed since the last committed write was sent: the lock may be somebody else's. Any thread. */
    public boolean isOutlived() {
        return proof.isOutlived(timeoutNanos, scheduler.nanoTime());
    }

    /**
     * Whether the session must be taken for lost by the clock of this process: T has passed since the last committed
     * write if it holds anything, otherwise since it lost its connection. Until the server says so, too, or it turns
     * out to live. Any thread.
     */
    public boolean isTakenForLost() {
        if (takenForLost || keepAlive.keepsAny()) {
            return takenForLost || isOutlived();
        }
        boolean isCutOff = state == State.DISCONNECTED || state == State.READ_ONLY;
        return isCutOff && timeoutNanos > 0 && scheduler.nanoTime() - endedAt >= timeoutNanos;
    }

    /** Its leases are being lost by the clock. On the engine thread. */
    public void takeForLost() {
        if (!takenForLost && !isEnded()) {
            takenForLost = true;
            onTakenForLost.run();
        }
    }

    private void lookWhetherLost() {
        if (isTakenForLost()) {
            takeForLost();
        }
    }

    /** Whether a lease may start on the present proof, which is good for another third of T. */
    public boolean isFreshlyProven() {
        return proof.remaining(timeoutNanos, scheduler.nanoTime()) >= timeoutNanos / 3;
    }

    public long provenAt() {
        return proof.sentAt();
    }

    /** Runs a task after T/6, which is how long a wait or a hold may last before anything is spent on it. */
    public Timer afterAWhile(Runnable task) {
        return scheduler.schedule(Duration.ofNanos(timeoutNanos / 6), task);
    }

    /**
     * After 2 T, or a minute if that is longer, and up to a quarter more. What is added depends on the session, so that
     * those that began to wait together do not look together.
     */
    private Timer afterALongWhile(Runnable task) {
        long least = Math.max(2 * timeoutNanos, A_LONG_WHILE.toNanos());
        long spread = Math.floorMod(31 * operations.sessionId(), 1000);
        return scheduler.schedule(Duration.ofNanos(least + least / 4000 * spread), task);
    }

    public void later(Runnable task) {
        scheduler.schedule(retryDelay, task);
    }

    /** Changes the state; called for an event, or for an answer that tells of the end before the event comes. */
    public void become(State next) {
        if (isEnded() || next == state || next == State.CONNECTING) {
            return;
        }
        if (next != State.CONNECTED) {
            endedAt = scheduler.nanoTime(); // before the state, for other threads
        }
        state = next;
        if (untilGivenUp != null) {
            untilGivenUp.cancel();
            untilGivenUp = null;
        }
        if (next == State.CONNECTED) {
            takenForLost = false;
            connections++;
            connectedAt = scheduler.nanoTime();
            reports.onConnected();
            timeoutNanos = operations.sessionTimeout().toNanos();
            pauses.begin(timeoutNanos);
        } else {
            proof = proof.inNoConnection();
            reports.onDisconnected();
            if (!next.isFinal()) {
                untilGivenUp = scheduler.schedule(Duration.ofNanos(timeoutNanos), this::lookWhetherLost);
            }
        }
        if (next.isFinal()) {
            pauses.end();
        }
        onState.accept(this, next);
        tellObservers(next);
    }

    private void tellObservers(State next) {
        if (next == State.CONNECTED) {
            watches.onConnected();
            keepAlive.onConnected();
            List.copyOf(observers).forEach(Observer::onConnected);
        } else if (next.isFinal()) {
            keepAlive.onEnded(next);
            watches.planLook();
            List.copyOf(observers).forEach(observer -> observer.onEnded(next));
            observers.clear();
        }
    }
}
