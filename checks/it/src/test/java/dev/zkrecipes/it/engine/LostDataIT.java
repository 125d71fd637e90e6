// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.Soon;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A server comes back without its data. It refuses every session that has seen more than it knows, for ever, and ZooKeeper's
 * client never calls such a session over. One loss for all tests, each of which has a client from before it.
 */
@Timeout(600)
@Tag("H109")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class LostDataIT {
    /** Long enough for a machine that stands still: no session ends before the data are lost. */
    private static final Duration SESSION = Duration.ofSeconds(10);

    private static final Duration LONG = Duration.ofSeconds(120);

    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private EmbeddedZooKeeper server;

    private ZooKeeperClient idle;
    private long earlierToken;

    private ZooKeeperClient holding;
    private Lease held;

    private CompletableFuture<Lease> waiting;

    private InterProcessMutex known;

    private ZooKeeper wrapped;
    private ZooKeeperClient overWrapped;
    private CompletableFuture<Lease> waitingOnWrapped;

    private CompletableFuture<Lease> waitingOnReplaced;
    private CompletableFuture<Lease> waitingOnKept;

    private <T extends AutoCloseable> T opened(T closeable) {
        open.push(closeable);
        return closeable;
    }

    private ZooKeeperClient client() throws InterruptedException {
        return opened(TestClients.connect(server.connectString(), SESSION));
    }

    private ZooKeeper handle() throws IOException {
        ZooKeeper handle = opened(new ZooKeeper(server.connectString(), (int) SESSION.toMillis(), event -> {}));
        await().until(() -> handle.getState() == ZooKeeper.States.CONNECTED);
        return handle;
    }

    @BeforeAll
    void loseData(@TempDir Path data) throws Exception {
        server = opened(EmbeddedZooKeeper.builder()
                .tickTime(Duration.ofMillis(100))
                .dataDirectory(data)
                .start());
        for (int i = 0; i < 100; i++) {
            server.createNode("/before-" + i, new byte[0]); // so that the new server knows less, whatever happens there
        }
        idle = client();
        Lease earlier = new InterProcessMutex(idle, "/idle").acquire();
        earlierToken = earlier.fencingToken();
        earlier.close();

        holding = client();
        held = Soon.get(new InterProcessMutex(holding, "/held").acquireAsync());
        waiting = new InterProcessMutex(client(), "/held").acquireAsync();

        known = new InterProcessMutex(client(), "/known");
        for (int use = 0; use < 3; use++) {
            known.acquire().close(); // from the next one on, a free lock is a create without a list
        }

        wrapped = handle();
        overWrapped = opened(ZooKeeperClient.wrap(wrapped));
        waitingOnWrapped = new InterProcessMutex(overWrapped, "/held").acquireAsync();

        List<ZooKeeper> supplied = new ArrayList<>(List.of(handle()));
        AtomicReference<ZooKeeper> current = new AtomicReference<>(supplied.get(0));
        waitingOnReplaced = new InterProcessMutex(opened(ZooKeeperClient.over(current::get)), "/held").acquireAsync();
        ZooKeeper kept = handle();
        waitingOnKept = new InterProcessMutex(opened(ZooKeeperClient.over(() -> kept)), "/held").acquireAsync();
        await().until(() -> server.children("/held").size() == 5);

        server.stop();
        current.set(new ZooKeeper(server.connectString(), (int) SESSION.toMillis(), event -> {}));
        opened(current.get());
        try (Stream<Path> files = Files.walk(data)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                if (!file.equals(data)) {
                    Files.delete(file);
                }
            }
        }
        server.restart();
        assertThat(server.nodeExists("/held")).isFalse();
    }

    @AfterAll
    void closeAll() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    /** A session is given up after one and a half of its time-out. */
    private static <T> T get(CompletableFuture<T> future) {
        assertThat(future).succeedsWithin(LONG);
        return future.join();
    }

    @Test
    void idleClient_acquiresAgain_withALowerToken() {
        Lease lease = get(new InterProcessMutex(idle, "/idle").acquireAsync());
        assertThat(lease.fencingToken()).isLessThan(earlierToken);
        get(lease.closeAsync());
    }

    /** What the client knew of the queue would fit: the next number is the one that it expects. */
    @Test
    @Tag("H155")
    void queueThatWasKnown_isListedAnew_thoughTheNumbersMeet() throws Exception {
        server.createNode("/known", new byte[0]);
        server.createNode("/known/one", new byte[0]);
        server.createNode("/known/two", new byte[0]);
        String first = "/known/lock-0000000002";
        server.createNode(first, new byte[0]);
        CompletableFuture<Lease> behind = known.acquireAsync();
        await().atMost(LONG).until(() -> server.childWatchers(first).size() == 1);
        assertThat(behind).isNotDone();
        server.deleteNode(first);
        get(get(behind).closeAsync());
    }

    @Test
    void heldLease_isLost_andItsClientAcquiresAgain() {
        await().atMost(LONG).until(() -> held.state() == LeaseState.LOST);
        held.close();
        get(get(new InterProcessMutex(holding, "/other").acquireAsync()).closeAsync());
    }

    @Test
    void waiters_continueInTheNextSession() {
        List<CompletableFuture<Void>> all = Stream.of(waiting, waitingOnReplaced)
                .map(request -> request.thenCompose(Lease::closeAsync))
                .toList();
        all.forEach(LostDataIT::get);
    }

    @Test
    void applicationsHandle_isGivenUp_andWhoeverWaitsIsToldToOpenANewOne() {
        assertThat(waitingOnWrapped)
                .failsWithin(LONG)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(ClientClosedException.class)
                .withMessageContainingAll("/held", "given up", "open a new handle");
        assertThatThrownBy(() -> new InterProcessMutex(overWrapped, "/other").acquire())
                .isInstanceOf(ClientClosedException.class)
                .hasMessageContaining("open a new handle");
        assertThat(wrapped.getState().isAlive())
                .as("it is the application's to close")
                .isTrue();
    }

    @Test
    void supplierThatReturnsTheSameHandle_isToldToReturnANewOne() {
        assertThat(waitingOnKept)
                .failsWithin(LONG)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LockConnectionException.class)
                .withMessageContainingAll("/held", "given up", "return a new one");
    }
}
