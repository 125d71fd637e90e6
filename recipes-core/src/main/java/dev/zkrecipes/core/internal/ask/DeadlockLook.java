// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.ask;

import dev.zkrecipes.core.Deadlock;
import dev.zkrecipes.core.DeadlockPolicy;
import dev.zkrecipes.core.LockDeadlockException;
import dev.zkrecipes.core.internal.acquire.AcquireLoop;
import dev.zkrecipes.core.internal.acquire.Requests;
import dev.zkrecipes.core.internal.queue.WaitGraph;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.OwnerLabel;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * One check whether a waiting request waits for itself. It lists the queues of the request, reads their nodes, and goes
 * on to the queues of the locks that the threads behind these nodes hold, including the request's own thread. It sends
 * a hundred reads at most, one after another, so that a check adds little to the other requests of the session. Of
 * long queues, it reads the request's own node and those in front first.
 *
 * <p>The reads happen at different moments. So a circle that they show is verified by one transaction: if all of its
 * nodes exist at that moment, each of its requests waits for the next one, and is not granted before the next one gives
 * way. Only a request that has timed out, and whose nodes are about to be deleted, can still be mistaken for a waiting
 * one.
 *
 * <p>If anything goes wrong, nothing is reported, and the next check begins afresh. Used once, on the engine thread.
 */
public final class DeadlockLook {
    private static final int MOST_READS = 100;
    private static final int AT_A_TIME = 10; // nodes of one queue, before the check turns to the next queue

    private final Requests requests;
    private final AcquireLoop waiting;
    private final Consumer<Deadlock> report;
    private final Session session;
    private final List<String> own; // the nodes with which the request waits
    private final WaitGraph graph = new WaitGraph();
    private final Set<String> known = new HashSet<>(); // lock paths that were listed, or will be
    private final Deque<String> toList = new ArrayDeque<>();
    private final Deque<Queue> unread = new ArrayDeque<>(); // queues of which not all nodes were read
    private int left = MOST_READS;

    /** The nodes of a queue that were not read yet. */
    private record Queue(String path, Iterator<LockNode> nodes) {}

    private DeadlockLook(Requests requests, AcquireLoop waiting, Consumer<Deadlock> report) {
        this.requests = requests;
        this.waiting = waiting;
        this.report = report;
        this.session = waiting.sessionOfWait();
        this.own = waiting.waitingNodes();
    }

    /**
     * Begins the check if the request waits in its queues, and returns whether it does. {@code report} gets a deadlock
     * that is found.
     */
    public static boolean begin(Requests requests, AcquireLoop waiting, Consumer<Deadlock> report) {
        if (waiting.waitingNodes().isEmpty()) {
            return false;
        }
        DeadlockLook look = new DeadlockLook(requests, waiting, report);
        look.own.forEach(look::listQueueOf);
        look.nextQueue();
        return true;
    }

    /**
     * Has the queue of this node listed, unless it was listed before. Another client may have written the path of the
     * node, so it may be anything.
     */
    private void listQueueOf(String node) {
        if (LockPath.isValid(node) && known.add(LockPath.parent(node))) {
            toList.add(LockPath.parent(node));
        }
    }

    /** Goes on with a queue that was not listed yet, or else with the other nodes of one that was. */
    private void nextQueue() {
        String path = toList.poll();
        if (left == 0 || (path == null && unread.isEmpty())) {
            judge();
        } else if (path == null) {
            readNodes(unread.remove(), AT_A_TIME);
        } else {
            left--;
            session.zk().children(path, answer -> {
                if (answer.isOk()) {
                    readNodes(
                            new Queue(
                                    path, inOrderOfReading(path, answer.value().names())),
                            AT_A_TIME);
                } else if (!answer.isUnsettled()) {
                    nextQueue(); // the queue is gone, or may not be read
                }
            });
        }
    }

    /** Returns the request's own node first, because there is no circle without it; then the others in their order. */
    private Iterator<LockNode> inOrderOfReading(String path, List<String> names) {
        return names.stream()
                .map(LockNode::ofAnyKind)
                .flatMap(Optional::stream)
                .sorted(Comparator.comparing((LockNode node) -> !own.contains(LockPath.child(path, node.name())))
                        .thenComparing(Comparator.naturalOrder()))
                .iterator();
    }

    /**
     * Reads up to {@code atMost} nodes of a queue, and leaves the others for later: one long queue must not use up all
     * reads.
     */
    private void readNodes(Queue queue, int atMost) {
        boolean hasNext = queue.nodes().hasNext();
        if (!hasNext || atMost == 0 || left == 0) {
            if (hasNext) {
                unread.add(queue);
            }
            nextQueue();
            return;
        }
        left--;
        LockNode node = queue.nodes().next();
        session.zk().read(LockPath.child(queue.path(), node.name()), answer -> {
            if (answer.isOk()) {
                Content content = answer.value();
                graph.add(queue.path(), node, content);
                OwnerLabel.holds(content.data()).forEach(this::listQueueOf);
            }
            if (!answer.isUnsettled()) {
                readNodes(queue, atMost - 1);
            }
        });
    }

    private void judge() {
        graph.through(own, requests.scheduler().wallClock())
                .ifPresent(circle -> session.check(circle.nodes(), answer -> {
                    // With other nodes, the request would wait for others.
                    if (answer.isOk() && waiting.waitingNodes().equals(own)) {
                        onFound(circle);
                    }
                }));
    }

    private void onFound(WaitGraph.Circle circle) {
        Deadlock deadlock = new Deadlock(circle.isCertain(), circle.members());
        report.accept(deadlock);
        boolean givesWay = circle.isCertain() && own.contains(circle.youngest());
        if (givesWay && waiting.deadlockPolicy() == DeadlockPolicy.FAIL) {
            waiting.fail(new LockDeadlockException("the request for the lock " + waiting.lockPath()
                    + " waits for requests that wait for it, and is the one to give way: " + deadlock
                    + "; close what this thread holds and begin again, or take these locks together by one"
                    + " multi-lock"));
        }
    }
}
