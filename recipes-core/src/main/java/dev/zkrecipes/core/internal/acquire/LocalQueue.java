// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.QueueLossPolicy;
import dev.zkrecipes.core.QueuePlaceLostException;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.node.HeldNodes;
import dev.zkrecipes.core.internal.node.Succession;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.internal.thread.EngineFailure;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one client for one lock that may pass inside the process. They wait here, first come, first served,
 * behind {@link Lines nodes that they share}.
 *
 * <pre>
 *   a request ----&gt; waiting ------------------ passed on by a holder ----------------+
 *                      |                                                             v
 *                      |  the held nodes do not suffice                         the next holder
 *                      v                                                             ^
 *                   a scout: one request in ZooKeeper's queue                        |
 *                      |                                                             |
 *                      +--- granted: its node is a new {@link Line} for the first that waits
 *                      +--- refused: the first that waits is told, the next one tries anew
 *                      +--- nobody waits any more: it leaves
 * </pre>
 *
 * <p><b>When there is a scout.</b> There is at most one. The held nodes suffice for all waiting requests if they may
 * pass on often enough <em>and</em> alone keep a newcomer from being granted, as the node of a mutex does. By the first
 * law of drivers, a place in ZooKeeper's queue then serves no request sooner. So a mutex has one node, and a second one
 * as soon as more requests wait than the first can still serve. The second stands behind all earlier nodes, and is
 * granted half a round trip after the last of them is gone: between two lines, no request waits for a node to be made.
 * A semaphore has a node for each held lease, and one more while a permit may be free elsewhere.
 *
 * <p><b>No wake-up is lost.</b> A request first enters the queue and then checks whether a line serves it. A line is
 * first marked as over, and then the engine thread checks the queue. So one of the two sees the other. {@link #look},
 * which runs after each such event, alone decides whether there is a scout.
 *
 * <p>A thread that gives back passes the lock on itself, to a waiting thread. The engine thread does it where user code
 * depends on the outcome, or under a {@linkplain RuleSight shared rule}. Everything else is confined to the
 * engine thread.
 */
final class LocalQueue implements Succession.Heirs, LocalRequest.Place {

    /** What its requests ask for. */
    record Key(LockGroup group, LockOptions options) {}

    private final Requests client;
    private final Key key;
    private final Consumer<LocalQueue> onIdle;
    private final LockSpec spec;
    private final EngineScheduler scheduler;

    private final Queue<LocalRequest> requests = new ConcurrentLinkedQueue<>(); // any thread; some may be over
    private final AtomicInteger waiting = new AtomicInteger(); // any thread; not fewer than there are
    private volatile @Nullable Line serving; // the one that alone keeps newcomers out

    private final Lines lines;
    private volatile @Nullable AcquireLoop scout; // set on the engine thread only
    private int leftEarly; // since the requests that are over were taken out

    LocalQueue(Requests client, Key key, Consumer<LocalQueue> onIdle) {
        this.client = client;
        this.key = key;
        this.onIdle = onIdle;
        this.spec = key.group().all().get(0);
        this.scheduler = client.scheduler();
        this.lines = new Lines(spec, () -> scheduler.execute(this::look));
    }

    Key key() {
        return key;
    }

    boolean isIdle() {
        return waiting.get() == 0 && scout == null && lines.isEmpty();
    }

    // ---- Coming and leaving, on any thread.

    void add(LocalRequest request) {
        waiting.incrementAndGet();
        request.stands(this);
        requests.add(request);
    }

    /** A request was added, or there is less to serve those that wait. */
    void seeTo() {
        if (scout != null) {
            return; // when that ends, the queue is looked at
        }
        Line line = serving;
        if (line == null || !line.serves(waiting.get())) {
            scheduler.execute(() -> {
                lines.watch(); // even if the new request has been served since
                look();
            });
        }
    }

    /** One of the requests has ended. */
    @Override
    public void onLeft(boolean withoutTheLock) {
        int left = waiting.decrementAndGet();
        if (withoutTheLock) {
            scheduler.execute(() -> {
                leftEarly++;
                look();
            });
        } else if (left == 0 && scout != null) {
            scheduler.execute(this::look); // the scout is not needed
        }
    }

    @Override
    public boolean isBusy() {
        AcquireLoop sent = scout;
        return !lines.isEmpty() || (sent != null && sent.wasSeenBusy());
    }

    @Override
    public Optional<LockException> obstacle() {
        AcquireLoop sent = scout;
        return sent == null ? Optional.empty() : sent.obstacle();
    }

    // ---- Passing on.

    /** Any thread. */
    @Override
    public boolean inherit(Succession line) {
        LocalRequest next = firstWaiting();
        if (next == null) {
            return false;
        }
        if (next.isAsynchronous() || spec.hasSharedRule()) {
            scheduler.execute(() -> passOrGiveBack(line));
        } else {
            line.passTo(this::giveToFirstThread);
            seeTo(); // the line can serve one less
        }
        return true;
    }

    /** Any thread. */
    private @Nullable LocalRequest firstWaiting() {
        LocalRequest first = requests.peek();
        while (first != null && first.isOver()) {
            requests.remove(first);
            first = requests.peek();
        }
        return first;
    }

    /** Any thread. If an asynchronous request is the first now, nobody gets it: the node is to be passed on again. */
    private boolean giveToFirstThread(Optional<List<HeldNode>> share) {
        LocalRequest first = requests.peek();
        while (first != null && !first.isAsynchronous()) {
            if (requests.remove(first) && first.take(share)) {
                return true;
            }
            first = requests.peek();
        }
        return false;
    }

    /** On the engine thread. */
    private boolean giveToFirst(Optional<List<HeldNode>> share) {
        LocalRequest first = requests.poll();
        while (first != null && !first.take(share)) {
            first = requests.poll();
        }
        return first != null;
    }

    private void passOrGiveBack(Succession line) {
        boolean passed = false;
        try {
            if (lines.mayPass(line) && firstWaiting() != null) {
                line.passTo(this::giveToFirst);
                passed = true;
            }
        } finally {
            if (!passed) {
                line.giveBack();
            }
            look();
        }
    }

    /** Any thread. */
    @Override
    public void onEnding() {
        lines.onChange();
    }

    @Override
    public void onOver(Succession line) {
        Line over = lines.remove(line);
        if (over != null) {
            over.end();
            if (over.session().isEnded() && key.options().queueLossPolicy() == QueueLossPolicy.FAIL) {
                failAll("lost the place in the queue of the lock " + spec.path() + ": the ZooKeeper session has ended ("
                        + over.session().state() + "); acquire again, or use QueueLossPolicy.REQUEUE");
            }
        }
        look();
    }

    // ---- What is to be done.

    private void look() {
        try {
            if (firstWaiting() == null) { // who is just coming or leaving is counted, and nothing is asked for it
                endScout();
            } else {
                lines.watch();
                lines.seeRule();
                if (scout == null && !lines.suffice(waiting.get())) {
                    beginScout();
                }
            }
            serving = lines.only();
            clean();
        } catch (Throwable t) {
            failFirst(EngineFailure.of(spec.path(), t));
        }
    }

    private void clean() {
        if (leftEarly > waiting.get()) {
            requests.removeIf(LocalRequest::isOver);
            leftEarly = 0;
        }
        lines.endRuleIfEmpty();
        if (isIdle()) {
            onIdle.accept(this);
        }
    }

    // ---- The scout.

    private void beginScout() {
        AcquireLoop begun = new AcquireLoop(client, key.group(), Mode.QUEUE, this::adopt);
        Completion.on(
                begun.outcome(),
                (outcome, failure) -> onScoutEnded(outcome == null ? List.of() : outcome.orElseThrow(), failure));
        scout = begun;
        try {
            begun.launch();
        } catch (Throwable t) {
            begun.fail(EngineFailure.of(spec.path(), t));
        }
    }

    private void endScout() {
        AcquireLoop sent = scout;
        if (sent != null) {
            sent.giveUp();
        }
    }

    /** A node was granted: to the scout, or to a try. */
    void adopt(HeldNode held, Optional<Content> decidedBy) {
        Line line = new Line(held, key.options().localHandoffs(), decidedBy, this, () -> scheduler.execute(this::look));
        lines.add(line);
    }

    private void onScoutEnded(List<HeldNode> granted, @Nullable Throwable failure) {
        scout = null;
        if (!granted.isEmpty()) {
            if (!giveToFirst(Optional.of(granted))) {
                HeldNodes.release(granted);
            }
        } else if (failure instanceof QueuePlaceLostException lost) {
            failAll(String.valueOf(lost.getMessage()));
        } else if (failure != null && !(failure instanceof CancellationException)) {
            failFirst(EngineFailure.of(spec.path(), failure));
        }
        scheduler.execute(this::look);
    }

    /** The failure of the scout concerns the first request; the others ask for themselves. */
    private void failFirst(LockException why) {
        LocalRequest first = firstWaiting();
        if (first != null) {
            first.fail(why);
        }
    }

    /** All stood behind that node. Each is told by an error of its own, which gets the stack trace of its thread. */
    private void failAll(String why) {
        List.copyOf(requests).forEach(request -> request.fail(new QueuePlaceLostException(why)));
    }
}
