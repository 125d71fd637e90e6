// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What many waiters cost the server: nothing while they wait, and one request for all of them wherever one is enough. */
@Timeout(600)
@Execution(ExecutionMode.CONCURRENT)
class WaitingCostIT {
    private static final int LOST_CREATES = 300;
    /** How many requests together they may take: more on a machine that comes late, and far less than one for each. */
    private static final int FEW = LOST_CREATES / 4;

    private static final Duration T = Duration.ofSeconds(12);
    private static final int WINDOWS = 3;

    private final EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
    private final String path = "/waiting";
    private final List<ZooKeeperClient> clients = new ArrayList<>();

    @AfterEach
    void close() {
        clients.forEach(ZooKeeperClient::close);
        server.close();
    }

    private ZooKeeperClient connect(String to, Duration timeout) throws InterruptedException {
        ZooKeeperClient client = ZooKeeperClient.builder()
                .connectString(to)
                .sessionTimeout(timeout)
                .build();
        clients.add(client);
        assertThat(client.awaitConnected(Duration.ofSeconds(20))).isTrue();
        return client;
    }

    private ZooKeeperClient connect() throws InterruptedException {
        return connect(server.connectString(), T);
    }

    private ZooKeeperClient connectForLong() throws InterruptedException {
        return connect(server.connectString(), TestClients.LONG_SESSION);
    }

    private static List<CompletableFuture<Lease>> queue(int count, InterProcessLock lock) {
        return Stream.generate(lock::acquireAsync).limit(count).toList();
    }

    private static void awaitAll(List<CompletableFuture<Lease>> granted) throws Exception {
        CompletableFuture.allOf(granted.toArray(CompletableFuture<?>[]::new)).get(120, TimeUnit.SECONDS);
    }

    @Test
    @Tag("H100")
    void idleWaitingSessions_sendNothing() throws Exception {
        Lease held =
                new InterProcessMutex(connectForLong(), path).acquireAsync().get(120, TimeUnit.SECONDS);
        int sessions = 20;
        for (int i = 0; i < sessions; i++) {
            var unused = new InterProcessMutex(connect(), path).acquireAsync();
        }
        await().atMost(Duration.ofSeconds(120))
                // Each has waited long enough to watch its own node, beside the one in front.
                .until(() -> server.children(path).size() == sessions + 1 && server.watchCount() == 2 * sessions);
        RequestCounts sent = sentInAWhile();
        for (int windows = 1; windows < WINDOWS && hasReconnects(sent); windows++) { // the machine stood still
            sent = sentInAWhile();
        }
        Soon.await().until(held::isValid);
        // The holder's checks; what the sessions had under way when the count began.
        assertThat(sent.of(RequestType.MULTI)).as("%s", sent).isBetween(1L, 5L);
        assertThat(sent.total() - sent.of(RequestType.MULTI)).as("%s", sent).isLessThanOrEqualTo(sessions / 10);
    }

    /** What is sent in one and a half session time-outs, in which a session that polled would send many requests. */
    private RequestCounts sentInAWhile() {
        RequestCounts before = server.requests();
        await().pollDelay(T.plus(T.dividedBy(2))).atMost(T.multipliedBy(5)).until(() -> true);
        return server.requests().minus(before);
    }

    private static boolean hasReconnects(RequestCounts sent) {
        return sent.of(RequestType.CREATE_SESSION) + sent.of(RequestType.RESUME_SESSION) > 0;
    }

    @Test
    @Tag("H82")
    void readersLetInTogetherAfterALongWait_shareOneProof() throws Exception {
        Lease writer = new InterProcessReadWriteLock(connectForLong(), path)
                .writeLock()
                .acquireAsync()
                .get(120, TimeUnit.SECONDS);
        int count = 200;
        List<CompletableFuture<Lease>> readers =
                queue(count, new InterProcessReadWriteLock(connect(), path).readLock());
        // Longer than T/6 after their creates, which proved the session.
        await().pollDelay(T.dividedBy(3))
                .atMost(Duration.ofSeconds(120))
                .until(() -> server.children(path).size() == count + 1 && server.watchCount() > 0);
        RequestCounts before = server.requests();
        long start = System.nanoTime();
        writer.close();
        awaitAll(readers);
        RequestCounts cost = server.requests().minus(before);
        // On a slow machine those who are in are checked while others come in, once each T/6.
        long checks = Duration.ofNanos(System.nanoTime() - start).dividedBy(T.dividedBy(6));
        assertThat(cost.of(RequestType.DELETE)).isEqualTo(1);
        // One proof and one list; another of each, if some were woken just after these were sent; a check of holds.
        assertThat(cost.of(RequestType.MULTI)).as("%s", cost).isLessThanOrEqualTo(4 + checks);
        assertThat(cost.total()).as("%s", cost).isLessThanOrEqualTo(10 + checks);
    }

    @Test
    void waitersServedInTurn_needNoList() throws Exception {
        InterProcessLock lock = new InterProcessMutex(connectForLong(), path);
        Lease held = lock.acquireAsync().get(120, TimeUnit.SECONDS);
        int count = 200;
        List<CompletableFuture<Lease>> waiting = queue(count, lock);
        await().atMost(Duration.ofSeconds(120))
                .until(() -> server.children(path).size() == count + 1 && server.watchCount() >= count);
        RequestCounts before = server.requests();
        for (CompletableFuture<Lease> future : waiting) {
            var unused = future.thenCompose(Lease::closeAsync);
        }
        held.close();
        awaitAll(waiting);
        await().until(() -> server.children(path).isEmpty());
        RequestCounts cost = server.requests().minus(before);
        assertThat(cost.of(RequestType.DELETE)).isEqualTo(count + 1L);
        assertThat(cost.of(RequestType.GET_CHILDREN2)).as("%s", cost).isLessThanOrEqualTo(2);
        assertThat(cost.total()).as("%s", cost).isLessThanOrEqualTo(count + 10L);
    }

    /** When requests whose creates get no answer are abandoned. */
    private enum Abandoned {
        NEVER,
        BEFORE_THE_LOSS,
        WITHOUT_A_CONNECTION
    }

    @Test
    @Tag("H90")
    void createsWithLostReplies_areSettledByFewRequests() throws Exception {
        RequestCounts cost = costOfLostCreates(Abandoned.NEVER);
        // Each node that is found is read once, as its owner must be seen; everything else is requested together.
        assertThat(cost.of(RequestType.GET_CHILDREN2)).as("%s", cost).isLessThanOrEqualTo(FEW);
        assertThat(cost.of(RequestType.MULTI)).as("%s", cost).isLessThanOrEqualTo(FEW);
    }

    @ParameterizedTest
    @EnumSource(names = {"BEFORE_THE_LOSS", "WITHOUT_A_CONNECTION"})
    @Tag("H90")
    void abandonedCreatesWithLostReplies_areFoundByFewRequests(Abandoned when) throws Exception {
        RequestCounts cost = costOfLostCreates(when);
        assertThat(cost.of(RequestType.DELETE)).as("%s", cost).isEqualTo(LOST_CREATES);
        assertThat(cost.of(RequestType.GET_CHILDREN2)).as("%s", cost).isLessThanOrEqualTo(FEW);
        assertThat(cost.of(RequestType.MULTI)).as("%s", cost).isLessThanOrEqualTo(FEW);
    }

    /** After two losses the list is suspected of being too large, and counts as lost once more while there is a connection. */
    @ParameterizedTest
    @EnumSource(names = {"NEVER", "BEFORE_THE_LOSS"})
    @Tag("H90")
    void createsWhoseListIsLostTwice_areSettledByFewRequests(Abandoned when) throws Exception {
        RequestCounts cost = costOfLostCreates(when, 2);
        assertThat(cost.of(RequestType.GET_ACL)).as("%s", cost).isPositive();
        assertThat(cost.of(RequestType.GET_CHILDREN2)).as("%s", cost).isLessThanOrEqualTo(FEW);
        assertThat(cost.of(RequestType.MULTI)).as("%s", cost).isLessThanOrEqualTo(FEW);
    }

    private RequestCounts costOfLostCreates(Abandoned when) throws Exception {
        return costOfLostCreates(when, 0);
    }

    private RequestCounts costOfLostCreates(Abandoned when, int lostLists) throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server)) {
            ZooKeeperClient client = connect(proxy.connectString(), Duration.ofSeconds(40));
            InterProcessLock lock = new InterProcessMutex(client, path);
            lock.acquireAsync().get(120, TimeUnit.SECONDS).close(); // makes the path
            proxy.pauseReplies();
            List<CompletableFuture<Lease>> wanted = queue(LOST_CREATES, lock);
            await().atMost(Duration.ofSeconds(120))
                    .until(() -> server.children(path).size() == LOST_CREATES);
            if (when == Abandoned.BEFORE_THE_LOSS) {
                wanted.forEach(future -> future.cancel(false));
            }
            RequestCounts before = server.requests();
            proxy.refuse();
            await().until(() -> client.connectionState() == ConnectionState.SUSPENDED);
            if (when == Abandoned.WITHOUT_A_CONNECTION) {
                wanted.forEach(future -> future.cancel(false));
            }
            for (int nth = 1; nth <= lostLists; nth++) {
                proxy.dropReply(RequestType.GET_CHILDREN2, nth);
            }
            proxy.resume();
            proxy.accept();
            boolean isAbandoned = when != Abandoned.NEVER;
            int left = isAbandoned ? 0 : LOST_CREATES;
            await().atMost(Duration.ofSeconds(120))
                    .until(() -> server.children(path).size() == left
                            && (isAbandoned || (wanted.get(0).isDone() && server.watchCount() >= LOST_CREATES - 1)));
            RequestCounts cost = server.requests().minus(before);
            client.close(); // through the proxy
            return cost;
        }
    }
}
