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
 * One session: its state, the {@linkplain SessionProof proof} that it is alive, and what belongs to it, such as its
 * watches, its lists and the nodes that it holds. T is the session time-out that the server has granted.
 *
 * <p>There are three degrees of knowledge about a session. It is <i>proven</i> while committed writes show that the
 * ensemble still holds it. It is <i>taken for lost</i> once T has passed by the clock of this process without a sign of
 * life; it may still turn out to be alive. It has <i>ended</i> once its {@linkplain State#isFinal() state is final}.
 *
 * <p>Confined to the engine thread, except for {@link #isProven()}, {@link #isOutlived()}, {@link #isTakenForLost()}
 * and what never changes.
 */
public final class Session {
    /** Why leases are lost when the session {@link #isOutlived}. */
    public static final String OUTLIVED = "no server has confirmed the session for a whole session time-out";

    private static final Duration A_LONG_WHILE = Duration.ofMinutes(1);

    /** Is notified of the state of a session, on the engine thread. */
    public interface Observer {
        /** Called when the session is connected, for the first time or again. */
        void onConnected();

        /**
         * Called when the session has ended with {@code state}. If the client can have another session, it has already
         * requested it.
         */
        void onEnded(State state);
    }

    private final EngineScheduler scheduler;
    private final boolean isWrapped;
    private final Duration retryDelay;
    private final SessionReports reports;
    private final MeasuredOperations operations;
    private final PauseDetector pauses;
    private final WatchRegistry watches;
    private final KeepAlive keepAlive;
    private final ListBatcher lists;
    private final SessionNodes nodes;
    private final CheckedAcls checkedAcls;
    private final KeptViews keptViews;
    private final NewPaths newPaths = new NewPaths();
    private List<Consumer<Answer<?>>> askedForProof = new ArrayList<>(); // the receivers of the next proof
    private final Set<Observer> observers = new LinkedHashSet<>();
    private final BiConsumer<Session, State> onState;

    private volatile State state = State.CONNECTING;
    private volatile long endedAt; // when the last connection ended; meaningless while there is a connection
    // Whether the leases are lost by the clock, and nothing has shown since then that the session is alive.
    private volatile boolean takenForLost;
    private Runnable onTakenForLost = () -> {};
    private Runnable onBeat = () -> {};
    private @Nullable Timer untilGivenUp; // runs while there is no connection
    private long connectedAt; // when the last connection began
    private int connections; // the number of connections so far
    private volatile long timeoutNanos; // 0 before the first connection
    private volatile SessionProof proof;

    /**
     * Opens a session. If {@code isNew} is false, the handle was wrapped, and the session may have existed for any
     * time. {@code onState} is called for each change of the state, before anybody else is notified. When it returns
     * from a final state, the next session has been requested.
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
        this.isWrapped = !isNew;
        this.retryDelay = retryDelay;
        this.onState = onState;
        long now = scheduler.nanoTime();
        this.reports = isNew ? new SessionReports(now) : SessionReports.ofUnknown(now);
        this.proof = SessionProof.ofNothing(now, reports.reportedAt());
        this.operations = new MeasuredOperations(handles, scheduler, containers, this::become);
        // A handle of the application's may have had a session before, although it is not connected now.
        Duration granted = operations.sessionTimeout();
        this.pauses = new PauseDetector(scheduler, granted.isZero() ? timeout : granted, () -> {
            operations.beat(state);
            onBeat.run();
        });
        this.nodes = new SessionNodes(operations);
        this.checkedAcls = new CheckedAcls(operations);
        this.watches = new WatchRegistry(operations, () -> state, this::later, this::afterALongWhile);
        this.keepAlive = new KeepAlive(this, scheduler);
        this.keptViews = new KeptViews(nodes, watches, this::order, scheduler);
        this.lists = new ListBatcher(operations, scheduler, this::check);
    }

    /** Sets what runs, on the engine thread, when {@link #isTakenForLost()} changes although the state does not. */
    public void onTakenForLost(Runnable told) {
        onTakenForLost = told;
    }

    /**
     * Sets what runs, on the engine thread, with each beat: sixteen times in a session time-out. After a pause of the
     * process there is only one beat, however long the pause was.
     */
    public void onBeat(Runnable told) {
        onBeat = told;
    }

    /** Takes over the present state of the handle. */
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

    public KeptViews keptViews() {
        return keptViews;
    }

    /** Whether the servers are assumed to support container nodes. */
    public boolean hasContainers() {
        return operations.hasContainers();
    }

    public NewPaths newPaths() {
        return newPaths;
    }

    public KeepAlive keepAlive() {
        return keepAlive;
    }

    /** Whether the handle is the application's, which may keep it although the session has ended for this client. */
    public boolean isWrapped() {
        return isWrapped;
    }

    public boolean isConnected() {
        return state == State.CONNECTED;
    }

    /** Returns the number of the present connection, or of the last one; 0 before the first. */
    public int connection() {
        return connections;
    }

    /**
     * Returns a number that changes with each connection and with each event that was found to be missing. What was
     * seen under an earlier number may be out of order.
     */
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
     * Whether a request that was lost with its connection may have been refused instead. A server that requires another
     * identity refuses one request and closes the connection, and ZooKeeper's client may not even read the refusal. So
     * until the session has received an answer, such a request is worth sending again: the next refusal may be read.
     */
    public boolean mayBeRefused() {
        return !operations.hasAnswered();
    }

    /** Whether the session was ended here because no server answered, and not by a server. */
    public boolean isGivenUp() {
        return operations.isGivenUp();
    }

    /**
     * Returns how long it takes until the server must have ended the session, too; zero if that time has passed, or if
     * the session has not ended here.
     */
    public Duration untilEndedByServer() {
        long left = isEnded() ? endedAt + timeoutNanos * 3 / 2 - scheduler.nanoTime() : 0;
        return Duration.ofNanos(Math.max(0, left));
    }

    /** Returns T, the negotiated time-out; 0 before the first connection. May be called from any thread. */
    public long timeoutNanos() {
        return timeoutNanos;
    }

    public void observe(Observer observer) {
        observers.add(observer);
    }

    public void ignore(Observer observer) {
        observers.remove(observer);
    }

    /** Records that a write that was sent at this time was committed. */
    public void committed(long sentAt) {
        committed(sentAt, true);
    }

    /**
     * Records a committed write, which proves that the session was alive. After a reconnect, leases become valid again
     * only by a write that was sent on the new connection and {@code findsAll} the nodes that it checks.
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
     * Sends one {@code multi} of checks: a small committed write, which is OK if all paths exist and may be read. A
     * refusal because of one of the paths also comes from the leader, and is {@linkplain #isCommitted committed} just
     * as well.
     */
    public void check(List<String> paths, Consumer<Answer<List<OpResult>>> reply) {
        check(paths, () -> true, reply);
    }

    /**
     * Sends one {@code multi} of checks, which may be one of several. {@code isLast} is called when all of its paths
     * were found, and returns whether no other check is still unanswered.
     */
    void check(List<String> paths, BooleanSupplier isLast, Consumer<Answer<List<OpResult>>> reply) {
        long sentAt = scheduler.nanoTime();
        operations.multi(paths.stream().map(path -> Op.check(path, -1)).toList(), answer -> {
            if (isCommitted(answer)) {
                committed(sentAt, answer.isOk() && isLast.getAsBoolean());
            }
            reply.accept(answer);
        });
    }

    /**
     * Whether this answer to a check proves that the session was alive, even if it is a refusal. A refusal for lack of
     * rights does if it says which of the paths was refused.
     */
    public static boolean isCommitted(Answer<?> answer) {
        return answer.isOk()
                || answer.code() == Code.NONODE
                || (answer.code() == Code.NOAUTH && answer.valueOrNull() != null);
    }

    /**
     * Sends one committed write for all requests that need a proof while the engine is busy with other tasks: 500
     * readers that are granted together must not send 500 writes. Which path is checked does not matter to the proof,
     * so a refusal may be due to the path of another request.
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

    /** Returns which of the checked paths made {@link #check} fail: does not exist, or may not be read. */
    public static int firstRefused(Answer<List<OpResult>> answer) {
        List<OpResult> results = answer.value();
        for (int i = 0; i < results.size(); i++) {
            if (results.get(i) instanceof ErrorResult error
                    && error.getErr() == answer.code().intValue()) {
                return i;
            }
        }
        throw new IllegalStateException("a multi failed with " + answer.code() + " and none of its operations did");
    }

    /**
     * Whether a write that was committed on this connection proves that the session is alive now. May be called from
     * any thread.
     */
    public boolean isProven() {
        return proof.remaining(timeoutNanos, scheduler.nanoTime()) > 0;
    }

    /**
     * Whether T has passed since the latest committed write was sent, so that others may have its locks. May be called
     * from any thread. If a write is committed between the two looks, at the proof and at the clock, this looks again:
     * the calling thread alone may have stood still.
     */
    public boolean isOutlived() {
        SessionProof seen = proof;
        return seen.isOutlived(timeoutNanos, scheduler.nanoTime()) && (seen.equals(proof) || isOutlived());
    }

    /**
     * Whether the session must be taken for lost by the clock of this process, as there may be no server to say so.
     * This is the case once T has passed: since the latest committed write was sent, if the session holds anything, and
     * otherwise since it lost its connection. It lasts until a server says that the session has ended, or until the
     * session turns out to be alive. May be called from any thread, and like {@link #isOutlived} looks again if what it
     * has seen has changed.
     */
    public boolean isTakenForLost() {
        if (takenForLost || keepAlive.keepsAny()) {
            return takenForLost || (isOutlived() && (keepAlive.keepsAny() || isTakenForLost()));
        }
        State seen = state;
        long since = endedAt;
        boolean isCutOff = seen == State.DISCONNECTED || seen == State.READ_ONLY;
        return isCutOff
                && timeoutNanos > 0
                && scheduler.nanoTime() - since >= timeoutNanos
                && ((seen == state && since == endedAt) || isTakenForLost());
    }

    /** Records that the leases of the session are being lost by the clock. Call only on the engine thread. */
    public void takeForLost() {
        if (!takenForLost && !isEnded()) {
            takenForLost = true;
            onTakenForLost.run();
        }
    }

    /**
     * Runs when there has been no connection for T. Before the first connection T is unknown, and this has no effect.
     */
    private void lookWhetherLost() {
        if (isTakenForLost()) {
            takeForLost();
        }
    }

    /**
     * Whether a new lease may start on the present proof, because the proof is good for at least another third of T.
     */
    public boolean isFreshlyProven() {
        return proof.remaining(timeoutNanos, scheduler.nanoTime()) >= timeoutNanos / 3;
    }

    /** Returns when the latest committed write was sent, by the engine's clock. */
    public long provenAt() {
        return proof.sentAt();
    }

    /** Runs a task after T/6. A wait or hold that is shorter than that costs nothing extra. */
    public Timer afterAWhile(Runnable task) {
        return scheduler.schedule(Duration.ofNanos(timeoutNanos / 6), task);
    }

    /**
     * Runs a task after 2 T, or after a minute if that is longer, plus up to a quarter of that. The extra time depends
     * on the session, so that sessions that began to wait together do not all send requests at the same moment.
     */
    public Timer afterALongWhile(Runnable task) {
        long least = Math.max(2 * timeoutNanos, A_LONG_WHILE.toNanos());
        long spread = Math.floorMod(31 * operations.sessionId(), 1000);
        return scheduler.schedule(Duration.ofNanos(least + least / 4000 * spread), task);
    }

    /** Runs a task after the longest pause between two attempts. */
    public void later(Runnable task) {
        scheduler.schedule(retryDelay, task);
    }

    /**
     * Changes the state. Called for an event, or for an answer that shows the end of the session before the event
     * comes.
     */
    public void become(State next) {
        if (isEnded() || next == state || next == State.CONNECTING) {
            return;
        }
        if (next != State.CONNECTED) {
            endedAt = scheduler.nanoTime(); // set before the state: a thread that sees the state needs it
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
            keptViews.end();
            watches.planLook();
            List.copyOf(observers).forEach(observer -> observer.onEnded(next));
            observers.clear();
        }
    }
}
