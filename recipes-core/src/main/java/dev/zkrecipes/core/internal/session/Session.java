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
 * One session: its state, the {@linkplain SessionProof proof} that it lives, and what belongs to it, such as its
 * watches, its lists and the nodes that it holds. T is the session time-out that the server has granted.
 *
 * <p>Whether the session lives is known in three degrees. It is <i>proven</i> while committed writes show that the
 * ensemble holds it. It is <i>taken for lost</i> once T has passed by the clock of this process without a sign of
 * life, but may still turn out to live. It has <i>ended</i> once its {@linkplain State#isFinal() state is final}.
 *
 * <p>Confined to the engine thread, except for {@link #isProven()}, {@link #isOutlived()}, {@link #isTakenForLost()}
 * and what never changes.
 */
public final class Session {
    /** Why leases are lost when the session {@link #isOutlived}. */
    public static final String OUTLIVED = "no server has confirmed the session for a whole session time-out";

    private static final Duration A_LONG_WHILE = Duration.ofMinutes(1);

    /** Is told of the state of a session, on the engine thread. */
    public interface Observer {
        /** The session is connected, for the first time or again. */
        void onConnected();

        /**
         * The session has ended with {@code state}. A client that can have another session has asked for it already.
         */
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
    private final KeptViews keptViews;
    private final NewPaths newPaths = new NewPaths();
    private List<Consumer<Answer<?>>> askedForProof = new ArrayList<>(); // those whom the next proof serves
    private final Set<Observer> observers = new LinkedHashSet<>();
    private final BiConsumer<Session, State> onState;

    private volatile State state = State.CONNECTING;
    private volatile long endedAt; // when the last connection ended; of no use while there is a connection
    private volatile boolean
            takenForLost; // whether its leases are lost by the clock, and nothing has shown since that it lives
    private Runnable onTakenForLost = () -> {};
    private Runnable onBeat = () -> {};
    private @Nullable Timer untilGivenUp; // runs while there is no connection
    private long connectedAt; // when the last connection began
    private int connections; // so far
    private volatile long timeoutNanos; // 0 before the first connection
    private volatile SessionProof proof;

    /**
     * Opens a session. A session that is not new, because its handle was wrapped, may have existed for any time.
     * {@code onState} is told of each change of the state before anybody else. When it returns from a final state,
     * the next session is on its way.
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

    /** Sets what runs, on the engine thread, when {@link #isTakenForLost()} changes while the state does not. */
    public void onTakenForLost(Runnable told) {
        onTakenForLost = told;
    }

    /**
     * Sets what runs on the engine thread with each beat: sixteen times in a session time-out. After a pause of the
     * process there is one beat, however long the pause was.
     */
    public void onBeat(Runnable told) {
        onBeat = told;
    }

    /** Takes up the state in which the handle is already. */
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

    /** Whether the servers are taken to have container nodes. */
    public boolean hasContainers() {
        return operations.hasContainers();
    }

    public NewPaths newPaths() {
        return newPaths;
    }

    public KeepAlive keepAlive() {
        return keepAlive;
    }

    public boolean isConnected() {
        return state == State.CONNECTED;
    }

    /** The number of the present connection, or of the last one; 0 before the first. */
    public int connection() {
        return connections;
    }

    /**
     * Changes with each connection, and with each event that never came: what was seen before may be out of order.
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
     * Whether a request that was lost with a connection may have been refused instead. A server that wants another
     * identity refuses one request and closes the connection, and ZooKeeper's client may not even read the refusal.
     * So as long as the session has had no answer, such a request is worth sending again: the next refusal may be
     * read.
     */
    public boolean mayBeRefused() {
        return !operations.hasAnswered();
    }

    /** Whether it has ended here because no server answered, rather than by the word of a server. */
    public boolean isGivenUp() {
        return operations.isGivenUp();
    }

    /**
     * How long it takes until the server must have ended it, too. Zero if that has passed, or while it lives here.
     */
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

    /** A write that was sent at that time was committed. */
    public void committed(long sentAt) {
        committed(sentAt, true);
    }

    /**
     * A write was committed, which proves that the session lived. After a reconnect the leases become valid again
     * only by a write that was sent in the new connection and {@code findsAll}: it found all nodes that it was to
     * find.
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
     * Sends one {@code multi} of checks: a small committed write, which is OK if all paths exist. An answer that one
     * of them does not exist comes from the leader, too, and is committed just as well.
     */
    public void check(List<String> paths, Consumer<Answer<List<OpResult>>> reply) {
        check(paths, () -> true, reply);
    }

    /**
     * Sends one {@code multi} of checks, which may be one of several. {@code isLast} is asked after all paths were
     * found: whether no other check is still to find its nodes.
     */
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
     * Sends one committed write for all requests that need a proof while the engine is busy with other tasks: 500
     * readers that are granted together must not send 500 writes. The answer is OK if the path exists. Which path is
     * checked does not matter to the proof.
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

    /** Whether a write that was committed in this connection proves that the session lives now. Any thread. */
    public boolean isProven() {
        return proof.remaining(timeoutNanos, scheduler.nanoTime()) > 0;
    }

    /** Whether T has passed since the last committed write was sent, so others may have its locks. Any thread. */
    public boolean isOutlived() {
        return proof.isOutlived(timeoutNanos, scheduler.nanoTime());
    }

    /**
     * Whether the session must be taken for lost by the clock of this process, as a server may not be there to say
     * so. That is so once T has passed: since the last committed write was sent, if the session holds anything, and
     * otherwise since it lost its connection. It stays so until a server says that the session has ended, or it turns
     * out to live. Any thread.
     */
    public boolean isTakenForLost() {
        if (takenForLost || keepAlive.keepsAny()) {
            return takenForLost || isOutlived();
        }
        boolean isCutOff = state == State.DISCONNECTED || state == State.READ_ONLY;
        return isCutOff && timeoutNanos > 0 && scheduler.nanoTime() - endedAt >= timeoutNanos;
    }

    /** Notes that the leases of the session are being lost by the clock. On the engine thread. */
    public void takeForLost() {
        if (!takenForLost && !isEnded()) {
            takenForLost = true;
            onTakenForLost.run();
        }
    }

    /** There was no connection for T, or no server has said yet how long T is. */
    private void lookWhetherLost() {
        if (isTakenForLost()) {
            takeForLost();
        }
    }

    /** Whether a new lease may start on the present proof, because that is good for another third of T at least. */
    public boolean isFreshlyProven() {
        return proof.remaining(timeoutNanos, scheduler.nanoTime()) >= timeoutNanos / 3;
    }

    /** When the last committed write was sent, by the engine's clock. */
    public long provenAt() {
        return proof.sentAt();
    }

    /** Runs a task after T/6. A wait or a hold that is shorter than that costs nothing extra. */
    public Timer afterAWhile(Runnable task) {
        return scheduler.schedule(Duration.ofNanos(timeoutNanos / 6), task);
    }

    /**
     * Runs a task after 2 T, or a minute if that is longer, and up to a quarter more. The extra time depends on the
     * session, so that sessions which began to wait together do not all ask the servers at the same moment.
     */
    private Timer afterALongWhile(Runnable task) {
        long least = Math.max(2 * timeoutNanos, A_LONG_WHILE.toNanos());
        long spread = Math.floorMod(31 * operations.sessionId(), 1000);
        return scheduler.schedule(Duration.ofNanos(least + least / 4000 * spread), task);
    }

    /** Runs a task after the longest pause between two attempts. */
    public void later(Runnable task) {
        scheduler.schedule(retryDelay, task);
    }

    /**
     * Changes the state. It is called for an event, and for an answer that tells of the end before the event comes.
     */
    public void become(State next) {
        if (isEnded() || next == state || next == State.CONNECTING) {
            return;
        }
        if (next != State.CONNECTED) {
            endedAt = scheduler.nanoTime(); // before the state: a thread that sees the state needs it
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
