// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.internal.Lateness;
import dev.zkrecipes.test.internal.Remains;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** The lock under test and its rival on an existing path. Each test has its own scene. */
final class Scene {
    static final String PARENT = "/contract";
    /**
     * Half of the usual session time-out, so that a leftover node is noticed before its session ends and removes it.
     */
    private static final Duration IN_TIME = Contenders.SESSION.dividedBy(2);
    /** How long a client may look for nodes of a lost session. */
    private static final Duration UNTIL_SESSIONS_ARE_OVER = Duration.ofSeconds(20);

    final String path = PARENT + "/" + UUID.randomUUID();
    final InterProcessLock lock;
    final InterProcessLock rival;

    private final Contenders contenders;
    private final EmbeddedZooKeeper server;
    private final List<String> queues;

    private Scene(Contenders contenders, LockOptions options) {
        this.contenders = contenders;
        this.server = contenders.server;
        this.queues = contenders.recipe.queues().stream().map(path::concat).toList();
        this.lock = contenders.recipe.lock().make(contenders.client, path, options);
        this.rival = contenders.recipe.rival().make(contenders.rivals, path, LockOptions.defaults());
    }

    static Scene of(Contenders contenders) throws InterruptedException {
        return of(contenders, LockOptions.defaults());
    }

    static Scene of(Contenders contenders, LockOptions options) throws InterruptedException {
        contenders.awaitConnected();
        Scene scene = new Scene(contenders, options);
        scene.rival.acquire().close();
        scene.lock.acquire().close(); // may create more paths
        scene.awaitNobody(); // some locks release in the background
        return scene;
    }

    /** Returns another object for the same lock as {@link #lock}. */
    InterProcessLock another() {
        return contenders.recipe.lock().make(contenders.client, path, LockOptions.defaults());
    }

    /** Returns a lock of the same client on the first of the queues, with a rule that no recipe has. */
    InterProcessLock ofAnotherRule() {
        return new LockInternals(contenders.client, queues.get(0), new AnotherRule(), LockOptions.defaults())
                .threadOwned();
    }

    private record AnotherRule() implements LockDriver {
        private static final String KIND = "another-";

        @Override
        public String nodeName() {
            return KIND;
        }

        @Override
        public Optional<LockNode> parse(String childName) {
            return LockNode.parse(childName, KIND);
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            return Decision.grantedIfFirst(predecessors);
        }
    }

    /** Returns the paths of all nodes in all queues. */
    List<String> nodes() {
        return queues.stream()
                .flatMap(queue -> server.children(queue).stream().map(name -> queue + "/" + name))
                .toList();
    }

    /** Returns the names of the nodes in the first queue, which the lock under test and the rival share. */
    List<String> firstQueue() {
        return server.children(queues.get(0));
    }

    /** Returns the paths of all nodes of one session. */
    List<String> nodesOf(long session) {
        return nodes().stream().filter(node -> isOwnedBy(session, node)).toList();
    }

    private boolean isOwnedBy(long session, String node) {
        return server.owner(node).orElse(0) == session;
    }

    /** Waits until the only request of the client under test has a node in every queue and watches the rival's node. */
    void awaitWaiting() {
        await().alias("a request that waits").until(this::isWaiting);
    }

    /**
     * Waits until a request waits or has ended. A request with a short time limit may have ended before this method
     * checks.
     */
    void awaitWaiting(Request request) {
        await().alias("a request that waits").until(() -> isWaiting() || request.isDone());
    }

    private boolean isWaiting() {
        long session = contenders.session();
        return nodesOf(session).size() == queues.size()
                && nodesOf(contenders.rivalsSession()).stream()
                        .anyMatch(node -> server.watchers(node).contains(session)
                                || server.childWatchers(node).contains(session));
    }

    /** Waits until the node of the rival is the only one in the queues. */
    void awaitOnlyTheRival() {
        await().untilAsserted(() ->
                assertThat(nodes()).hasSize(1).allMatch(node -> isOwnedBy(contenders.rivalsSession(), node)));
    }

    /** Waits until the queues are empty. */
    void awaitNobody() {
        await().untilAsserted(() -> assertThat(nodes()).isEmpty());
    }

    /** Checks that each queue has one node, which belongs to the present session of the client under test. */
    void assertHeld() {
        assertThat(nodes())
                .hasSize(queues.size())
                .allMatch(node -> isOwnedBy(contenders.session(), node), "is of the present session");
    }

    /** Checks what the lock under test reports about its client. */
    void assertAcquired(boolean expected) {
        assertThat(lock.isAcquiredInThisProcess())
                .as("isAcquiredInThisProcess() of %s with the nodes %s", lock, nodes())
                .isEqualTo(expected);
    }

    /** Checks what the lock under test reports about the calling thread. */
    void assertHeldByThisThread(boolean expected) {
        assertThat(lock.isHeldByCurrentThread())
                .as("isHeldByCurrentThread() of %s with %d holds and the nodes %s", lock, lock.holdCount(), nodes())
                .isEqualTo(expected);
    }

    /** Checks, after all holds have been released, that the rival can get the lock and that no node is left. */
    void assertPathIsFree() throws InterruptedException {
        Optional<Lease> next = rivalInTime();
        assertThat(next).as("the rival's lease, queue %s", nodes()).isPresent();
        next.orElseThrow().close();
        awaitNobody();
        assertAcquired(false);
        assertHeldByThisThread(false);
        assertThat(lock.holdCount()).as("holds of this thread").isZero();
    }

    /** Waits for the rival to get the lock. The limit grows by the lateness of the machine. */
    private Optional<Lease> rivalInTime() throws InterruptedException {
        try (Lateness lateness = Lateness.measure()) {
            long begin = System.nanoTime();
            Optional<Lease> next = Optional.empty();
            for (Duration left = IN_TIME;
                    next.isEmpty() && left.compareTo(Duration.ZERO) > 0;
                    left = IN_TIME.plus(lateness.soFar()).minusNanos(System.nanoTime() - begin)) {
                next = rivalWithin(left);
            }
            return next;
        }
    }

    /** Tries to acquire the rival. Returns empty also if there was no answer. */
    private Optional<Lease> rivalWithin(Duration limit) throws InterruptedException {
        try {
            return rival.tryAcquire(limit);
        } catch (LockConnectionException e) {
            return Optional.empty();
        }
    }

    /** Checks that the path is free, and that neither the server has a watch nor the client an entry for any path. */
    void assertNothingLeft() throws InterruptedException {
        assertPathIsFree();
        await().atMost(UNTIL_SESSIONS_ARE_OVER).untilAsserted(() -> {
            assertThat(contenders.watches()).as("watches at the server").isZero();
            if (contenders.client.connectionState() != ConnectionState.CLOSED) {
                assertThat(Remains.of(contenders.client)).isEmpty();
            }
        });
    }
}
