// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.explore.sim.Choices;
import dev.zkrecipes.explore.sim.NodeTree;
import dev.zkrecipes.explore.sim.SimulatedZooKeeper;
import dev.zkrecipes.explore.sim.Simulation;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * One run: some processes on one path, some faults, the promises that must be kept at every step, and those that must
 * be kept at the end, when the faults have ended. Everything that happens is a function of the choices.
 */
final class Schedule {
    static final Duration SESSION = Duration.ofSeconds(6);
    /** How many ticks a session time-out has. Servers grant time-outs of two ticks or more. */
    private static final int[] TICKS = {6, 3, 2};

    private static final Duration LONGEST = SESSION.multipliedBy(30);
    private static final Duration FOR_EVER = LONGEST.multipliedBy(2);
    private static final int SLICES = 40;
    private static final Duration LONGEST_UNUSED = Duration.ofMinutes(1);
    private static final String NOTHING_LEFT = "nothing is left behind";
    private static final String EVERY_WAITER = "every waiter is granted or told why not";
    /**
     * So many requests of one process that a node can be handed over, or that a change of the rule can affect several
     * waiters.
     */
    private static final int MANY_REQUESTS = 8;
    /** The largest number of steps for each client. A few hundred are usual. */
    private static final int MOST_STEPS = 50_000;

    private final ExploredLock lock;
    private final Simulation simulation;
    private final SimulatedZooKeeper ensemble;
    private final Judge judge;
    private final List<Actor> actors = new ArrayList<>();
    private final Set<Actor> closed = new HashSet<>();
    private final Deque<CompletableFuture<?>> kept = new ArrayDeque<>();
    private final Chaos chaos;
    private final boolean inTurns;
    private boolean blocking; // a blocking call is under way
    private boolean interrupted; // the blocking call was interrupted
    private boolean heldLong;
    private int firstNumber; // the first sequence number on each path

    Schedule(ExploredLock lock, int clients, Set<FaultKind> faults, Choices choices, @Nullable List<String> trace) {
        this.lock = lock;
        this.simulation = new Simulation(choices, trace);
        this.ensemble =
                new SimulatedZooKeeper(simulation, SESSION, SESSION.dividedBy(TICKS[choices.next(TICKS.length)]));
        this.judge = new Judge(ensemble, lock, simulation::now);
        if (choices.next(16) == 1) {
            firstNumber = oldCounter(choices);
            ensemble.beginCountersAt(firstNumber);
        }
        inTurns = choices.next(3) == 1;
        for (int i = 1; i <= clients; i++) {
            int most = lock.needsManyRequests() || inTurns ? MANY_REQUESTS : 3;
            actors.add(new Actor(this, i, 1 + choices.next(most)));
        }
        this.chaos = new Chaos(this, faults, choices.next(5));
        simulation.afterEachStep(this::look);
        watchOverWaiters();
    }

    /**
     * Checks that no waiter sleeps for long although it may hold. Even after a lost wake-up, a waiter is granted at its
     * next periodic check. So the time allowed is shorter than that.
     */
    private void watchOverWaiters() {
        List<QueuedNode> eligible = eligibleWaiters();
        simulation.after(SESSION.multipliedBy(6), () -> requireAwake(eligible, EVERY_WAITER));
        simulation.after(SESSION, this::watchOverWaiters);
    }

    private void look() {
        judge.look();
        if (simulation.now() > FOR_EVER.toNanos()) { // may happen during a blocking call
            throw new BrokenPromise(EVERY_WAITER, "after " + FOR_EVER + ": " + lockNodes());
        }
        if (simulation.steps() > (long) MOST_STEPS * actors.size()) {
            throw new BrokenPromise(
                    "the engine comes to rest", "more than " + MOST_STEPS + " steps for each client, and no end");
        }
    }

    /** Returns a number just before one of the limits of the sequence counter. */
    private static int oldCounter(Choices choices) {
        int near = choices.next(4);
        return switch (choices.next(3)) {
            case 0 -> (1 << 30) - near;
            case 1 -> Integer.MAX_VALUE - (1 << 20) - near;
            default -> Integer.MAX_VALUE - near;
        };
    }

    /**
     * Whether the sequence counter is so near its end that a request may be refused if it finds another node in the
     * queue.
     */
    boolean isNearEndOfCounters() {
        return firstNumber > 1 << 30;
    }

    ExploredLock lock() {
        return lock;
    }

    Simulation simulation() {
        return simulation;
    }

    SimulatedZooKeeper ensemble() {
        return ensemble;
    }

    Judge judge() {
        return judge;
    }

    List<Actor> actors() {
        return actors;
    }

    /**
     * Whether the processes start at different times, so that often one of them uses the lock repeatedly while nobody
     * else does.
     */
    boolean isInTurns() {
        return inTurns;
    }

    /** Returns whether a process may hold for a very long time now. Only the first call returns true. */
    boolean tryHoldingLong() {
        boolean may = !heldLong;
        heldLong = true;
        return may;
    }

    /** Whether an actor may make a blocking call now. If so, it must call {@link #endBlocking} afterwards. */
    boolean tryBlocking() {
        boolean may = !blocking;
        blocking = true;
        return may;
    }

    void endBlocking() {
        blocking = false;
        interrupted = false;
        boolean wasInterrupted = Thread.interrupted(); // the interruption came too late for its call
        simulation.tell("schedule", () -> wasInterrupted ? "an interrupt came late" : "a blocking call is over");
    }

    void interrupt() {
        if (blocking) {
            simulation.tell("schedule", () -> "interrupts who blocks");
            interrupted = true;
            Thread.currentThread().interrupt();
        }
    }

    /** Whether the present blocking call was interrupted. */
    boolean isInterrupted() {
        return interrupted;
    }

    /**
     * Whether any lock node has existed at that time or later. A server that is cut off may show such a node for a
     * while.
     */
    boolean wasBusySince(long time) {
        return !lockNodes().isEmpty() || judge.lastBusyAt() >= time;
    }

    /** Whether all faults have ended, and none has had an effect recently. */
    boolean isCalm() {
        return chaos.isOverFor(SESSION);
    }

    /**
     * Whether, in addition to {@link #isCalm}, every client must have learned by now whether its session has survived.
     * After an election, the server that a client last heard from may be away for two session time-outs, and that
     * client then waits for another four thirds of a time-out.
     */
    boolean isCalmForLong() {
        return chaos.isOverFor(SESSION.multipliedBy(4));
    }

    /** Closes a client. That blocks, so it is not possible during another blocking call. */
    void close(Actor actor) {
        if (tryBlocking()) {
            try {
                closed.add(actor);
                actor.close();
            } finally {
                endBlocking();
            }
        }
    }

    boolean isClosed(Actor actor) {
        return closed.contains(actor);
    }

    /** Called when a process is about to send a request; may cut the process off from all servers for a while. */
    void cutOff(Actor actor) {
        chaos.cutOff(actor);
    }

    /** Called when a process is about to request the lock. */
    void onAsking() {
        chaos.onAsking();
    }

    /** Called when a process is releasing a lease. */
    void onClosing(Lease lease) {
        chaos.onClosing(judge.onClosing(lease).stream().map(QueuedNode::of).toList());
    }

    /** Keeps a reference to a future for whose completion nobody waits. */
    void keep(CompletableFuture<?> future) {
        kept.add(future);
    }

    List<QueuedNode> lockNodes() {
        return lockNodes(ensemble.committed());
    }

    static List<QueuedNode> lockNodes(NodeTree tree) {
        List<QueuedNode> found = new ArrayList<>();
        for (String path : lockPaths(tree)) {
            tree.children(path).stream()
                    .flatMap(name -> QueuedNode.of(path, name).stream())
                    .sorted()
                    .forEach(found::add);
        }
        return found;
    }

    /**
     * Returns the nodes that may hold but have not been granted. Returns none if something has gone wrong recently,
     * because waiters may then still have a reason to sleep.
     */
    List<QueuedNode> eligibleWaiters() {
        if (!isCalm()) {
            return List.of();
        }
        List<QueuedNode> waiting =
                lockNodes().stream().filter(place -> !judge.isGranted(place)).toList();
        return waiting.stream()
                .filter(place -> judge.mayHold(place) && !waitsElsewhere(place, waiting))
                .toList();
    }

    /** Whether the request of this node may also be waiting in another queue, in which it may not hold. */
    private boolean waitsElsewhere(QueuedNode place, List<QueuedNode> waiting) {
        NodeTree tree = ensemble.committed();
        return waiting.stream()
                .anyMatch(other -> !other.lockPath().equals(place.lockPath())
                        && tree.owner(other.path()).equals(tree.owner(place.path()))
                        && !judge.mayHold(other));
    }

    /** Checks that none of these nodes, which were eligible a session time-out ago or earlier, is still asleep. */
    void requireAwake(List<QueuedNode> eligibleBefore, String promise) {
        List<QueuedNode> asleep = eligibleWaiters();
        eligibleBefore.stream()
                .filter(asleep::contains)
                .findFirst()
                .ifPresent(
                        place -> judge.accuse(promise, place.path() + " could have been granted long ago and was not"));
    }

    private static List<String> lockPaths(NodeTree tree) {
        List<String> paths = new ArrayList<>();
        if (tree.exists(ExploredLock.PATH)) {
            paths.add(ExploredLock.PATH);
            tree.children(ExploredLock.PATH).stream()
                    .filter(name -> QueuedNode.of(ExploredLock.PATH, name).isEmpty())
                    .sorted()
                    .forEach(name -> paths.add(ExploredLock.PATH + "/" + name));
        }
        return paths;
    }

    /**
     * Runs the schedule to its end.
     *
     * @throws BrokenPromise if a promise was broken
     */
    void run() {
        try {
            runUntilDone();
            awaitNothingLeft();
            if (simulation.choices().next(8) == 1) {
                simulation.passUntil(simulation.now() + LONGEST_UNUSED.toNanos());
                requireNoViews();
            }
            if (isNearEndOfCounters()) {
                requireUsable();
            }
        } finally {
            Thread.interrupted(); // an interrupt that came after the last blocking call
        }
    }

    private void runUntilDone() {
        long limit = simulation.now() + LONGEST.toNanos();
        while (!isDone()) {
            if (!simulation.step(limit)) {
                List<String> waiting = actors.stream()
                        .filter(actor -> !actor.isDone())
                        .map(Actor::describe)
                        .toList();
                throw new BrokenPromise(EVERY_WAITER, "after " + LONGEST + ": " + waiting + ", " + lockNodes());
            }
        }
        judge.throwIfFound();
    }

    private boolean isDone() {
        return areActorsDone() && chaos.isOver();
    }

    boolean areActorsDone() {
        for (Actor actor : actors) {
            if (!actor.isDone()) {
                return false;
            }
        }
        return true;
    }

    private void awaitNothingLeft() {
        List<String> left = leftovers();
        for (int slice = 0; !left.isEmpty() && (slice < SLICES || !chaos.isOverFor(SESSION)); slice++) {
            simulation.passUntil(simulation.now() + SESSION.toNanos() / 4);
            left = leftovers();
        }
        if (!left.isEmpty()) {
            throw new BrokenPromise(NOTHING_LEFT, String.join("; ", left));
        }
    }

    private void requireNoViews() {
        if (actors.stream().anyMatch(Actor::keepsSomething)) {
            throw new BrokenPromise(NOTHING_LEFT, "a client that does nothing keeps a view or a watch for a minute");
        }
    }

    /**
     * Checks that a request that finds nobody else is granted, however high the sequence numbers are, unless the rule
     * never grants it.
     */
    private void requireUsable() {
        Optional<Actor> open =
                actors.stream().filter(actor -> !closed.contains(actor)).findFirst();
        if (open.isPresent()) {
            long begin = simulation.now();
            CompletableFuture<Lease> last = open.get().askAtTheEnd();
            simulation.passUntil(simulation.now() + SESSION.multipliedBy(4).toNanos());
            boolean isGranted = last.isDone() && !last.isCompletedExceptionally();
            if (!isGranted && !(last.isDone() && open.get().neverMayHold(failureOf(last), List.of(0), begin))) {
                throw new BrokenPromise("whoever finds nobody else is granted", String.valueOf(last));
            }
        }
    }

    private static @Nullable Throwable failureOf(CompletableFuture<Lease> ended) {
        return ended.handle((lease, failure) -> failure).join();
    }

    private List<String> leftovers() {
        List<String> left = new ArrayList<>();
        lockNodes().forEach(place -> left.add("the node " + place.path()));
        // A watch may stay on a path that still exists, such as the path of a semaphore.
        ensemble.watchedNodes().stream()
                .filter(path -> !ensemble.committed().exists(path))
                .forEach(path -> left.add("a watch at a server on " + path));
        actors.stream().filter(actor -> !closed.contains(actor)).forEach(actor -> left.addAll(actor.leftovers()));
        return left;
    }
}
