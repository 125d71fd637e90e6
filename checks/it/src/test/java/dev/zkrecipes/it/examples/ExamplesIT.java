// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.DeadlockPolicy;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockDeadlockException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.core.Revocation;
import dev.zkrecipes.core.RevocationOutcome;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.handoff.HandoffMutex;
import dev.zkrecipes.leader.LeaderElection;
import dev.zkrecipes.leader.LeaderListener;
import dev.zkrecipes.leader.Term;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The examples of several documents and of the recipes' javadoc, compiled and run. {@link DocsTest} compares the
 * documents with them; the javadoc is compared below. The README's program is in {@link ReadmeProgramIT}.
 */
@Timeout(600)
@WithZooKeeper
class ExamplesIT {
    private static final Path HOUSE = Path.of("../..");
    private static final Pattern JAVADOC = Pattern.compile("<pre>\\{@code\n(.*?)\\}</pre>", Pattern.DOTALL);

    private static final Duration LIMIT = Duration.ofSeconds(120);

    private final List<String> done = new ArrayList<>();
    private final Storage storage = (what, token) -> done.add(what + (token > 0 ? " with a token" : ""));
    private final String order = "order";

    private interface Storage {
        void write(String what, long token);
    }

    private void read() {
        done.add("read");
    }

    private void update() {
        done.add("update");
    }

    private void publish() {
        done.add("publish");
    }

    private void importInThreeThreads() {
        done.add("import");
    }

    private void transfer(int from, int to, long token) {
        done.add("transfer " + from + " " + to + (token > 0 ? " with a token" : ""));
    }

    @Test
    void mutex(EmbeddedZooKeeper server) throws Exception {
        try (ZooKeeperClient client = ZooKeeperClient.connect(server.connectString())) {
            InterProcessMutex mutex = new InterProcessMutex(client, "/locks/orders");
            try (Lease lease = mutex.acquire()) {
                storage.write(order, lease.fencingToken());
            }
        }
        assertThat(done).containsExactly("order with a token");
    }

    private interface Orders {
        boolean hasNext();

        String next();

        void cancel();
    }

    @Test
    void holderThatLosesItsLock_stops(EmbeddedZooKeeper server) throws Exception {
        CountDownLatch cancelled = new CountDownLatch(1);
        Orders orders = new Orders() {
            @Override
            public boolean hasNext() {
                return true;
            }

            /** The second one ends the session, and blocks until somebody cancels it. */
            @Override
            public String next() {
                if (!done.isEmpty()) {
                    server.sessions().forEach(server::expireSession);
                    Soon.await().until(() -> cancelled.getCount() == 0);
                }
                return order;
            }

            @Override
            public void cancel() {
                cancelled.countDown();
            }
        };
        try (ZooKeeperClient client = ZooKeeperClient.connect(server.connectString())) {
            InterProcessMutex mutex = new InterProcessMutex(client, "/locks/orders");
            assertThatThrownBy(() -> writeAll(mutex, orders)).isInstanceOf(LockLostException.class);
        }
        assertThat(done).containsExactly("order with a token");
    }

    private void writeAll(InterProcessMutex mutex, Orders orders) throws InterruptedException {
        try (Lease lease = mutex.acquire()) {
            lease.onLost(orders::cancel); // runs on another thread, and ends a step that blocks
            while (lease.isValid() && orders.hasNext()) { // before each step
                storage.write(orders.next(), lease.fencingToken()); // throws once the lease is lost
            }
        }
    }

    private String ask(String what, long token) throws IOException {
        return what + (token > 0 ? " with a token" : "");
    }

    private void callAndTry(InterProcessMutex mutex) throws InterruptedException, IOException {
        String answer = mutex.call(lease -> ask(order, lease.fencingToken()));
        Optional<String> inTime = mutex.tryCall(Duration.ofSeconds(2), lease -> ask(order, lease.fencingToken()));
        boolean wasRun = mutex.tryRun(Duration.ofSeconds(2), lease -> storage.write(order, lease.fencingToken()));
        assertThat(inTime).hasValue(answer);
        assertThat(wasRun).isTrue();
        assertThat(mutex.holdCount()).isZero();
    }

    @Test
    void bodies(EmbeddedZooKeeper server) throws InterruptedException, IOException {
        try (ZooKeeperClient client = ZooKeeperClient.connect(server.connectString())) {
            InterProcessMutex mutex = new InterProcessMutex(client, "/locks/orders");
            // Two seconds are too few for a machine that stands still, so this is tried again if there was no answer.
            Soon.await()
                    .atMost(LIMIT)
                    .ignoreExceptionsInstanceOf(LockConnectionException.class)
                    .until(() -> {
                        callAndTry(mutex);
                        return true;
                    });
            InterProcessMutex elsewhere = new InterProcessMutex(client, "/locks/orders");
            CompletableFuture<Lease> other = elsewhere.acquireAsync();
            try (Lease held = other.join()) {
                Soon.await().until(held::isValid);
                assertThat(mutex.tryCall(Duration.ZERO, lease -> ask(order, lease.fencingToken())))
                        .isEmpty();
            }
        }
    }

    @Test
    void recipes(EmbeddedZooKeeper server) throws Exception {
        try (ZooKeeperClient client = ZooKeeperClient.connect(server.connectString())) {
            InterProcessReadWriteLock catalogue = new InterProcessReadWriteLock(client, "/locks/catalogue");
            try (Lease lease = catalogue.readLock().acquire()) {
                read();
            }
            InterProcessSemaphore imports = new InterProcessSemaphore(client, "/semaphores/imports", 10);
            try (Lease lease = imports.acquire(3)) {
                importInThreeThreads();
            }
            InterProcessMultiLock both = new InterProcessMultiLock(client, List.of("/accounts/7", "/accounts/9"));
            try (MultiLease lease = both.acquire()) {
                transfer(7, 9, lease.fencingToken());
            }
        }
        assertThat(done).containsExactly("read", "import", "transfer 7 9 with a token");
    }

    @Test
    void requestThatGivesWay(EmbeddedZooKeeper server) throws Exception {
        try (ZooKeeperClient client = ZooKeeperClient.connect(server.connectString())) {
            LockOptions options = LockOptions.defaults().withDeadlockPolicy(DeadlockPolicy.FAIL);
            InterProcessMutex from = new InterProcessMutex(client, "/accounts/7", options);
            InterProcessMutex to = new InterProcessMutex(client, "/accounts/9", options);
            boolean isDone = false;
            while (!isDone) {
                try (Lease first = from.acquire();
                        Lease second = to.acquire()) {
                    transfer(7, 9, second.fencingToken());
                    isDone = true;
                } catch (LockDeadlockException e) {
                    // both are closed, so the others go on: begin again
                }
            }
        }
        assertThat(done).containsExactly("transfer 7 9 with a token");
    }

    @Test
    void tokenAndGuard(EmbeddedZooKeeper server) throws Exception {
        byte[] data = {1, 2};
        try (ZooKeeperClient client = ZooKeeperClient.connect(server.connectString())) {
            Lease lease = new InterProcessMutex(client, "/locks/orders").acquire();
            ZooKeeper handle = client.zooKeeper().orElseThrow();
            handle.create("/orders", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            handle.create("/orders/4711", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            storage.write(order, lease.fencingToken());
            ZooKeeper zooKeeper = client.zooKeeper().orElseThrow();
            zooKeeper.multi(List.of(lease.guard(), Op.setData("/orders/4711", data, -1)));
            assertThat(zooKeeper.getData("/orders/4711", false, null)).isEqualTo(data);
        }
        assertThat(done).containsExactly("order with a token");
    }

    @Test
    void downgrade(EmbeddedZooKeeper server) throws Exception {
        try (ZooKeeperClient client = ZooKeeperClient.connect(server.connectString())) {
            InterProcessReadWriteLock catalogue = new InterProcessReadWriteLock(client, "/locks/catalogue");
            try (Lease writing = catalogue.writeLock().acquire()) {
                update();
                try (Lease reading = catalogue.readLock().acquire()) {
                    writing.close();
                    publish();
                }
            }
        }
        assertThat(done).containsExactly("update", "publish");
    }

    private void report(String owner, RevocationOutcome outcome) {
        assertThat(owner).isNotBlank();
        done.add(outcome.toString());
    }

    @Test
    void revocation(EmbeddedZooKeeper server) throws Exception {
        try (ZooKeeperClient client = ZooKeeperClient.connect(server.connectString())) {
            InterProcessMutex mutex = new InterProcessMutex(client, "/locks/orders");
            Lease lease = mutex.acquireAsync().join();
            lease.onRevocationRequested(request -> lease.close());
            Revoker revoker = new Revoker(client).withGrace(Duration.ofSeconds(10));
            for (Revocation revocation : revoker.request(mutex)) {
                report(
                        revocation.participant().owner(),
                        revocation.await(Duration.ofMinutes(1)).orElseThrow());
            }
        }
        assertThat(done).containsExactly("GIVEN_BACK");
    }

    private interface Billing {
        void next(long token) throws InterruptedException;
    }

    private interface Reports {
        void start(long token);

        void stop();
    }

    private final Billing billing = token -> {
        done.add("billed" + (token > 0 ? " with a token" : ""));
        throw new InterruptedException("enough");
    };

    @Test
    void leader(EmbeddedZooKeeper server) throws Exception {
        try (ZooKeeperClient client = ZooKeeperClient.connect(server.connectString())) {
            LeaderElection election = new LeaderElection(client, "/leaders/billing");
            election.run(term -> {
                while (term.awaitValid(Duration.ofSeconds(30))) {
                    billing.next(term.number());
                }
            });
        } catch (InterruptedException e) {
            done.add(e.getMessage());
        }
        assertThat(done).containsExactly("billed with a token", "enough");
    }

    @Test
    void leaderWithAListener(EmbeddedZooKeeper server) throws Exception {
        Reports reports = new Reports() {
            @Override
            public void start(long token) {
                done.add("started" + (token > 0 ? " with a token" : ""));
            }

            @Override
            public void stop() {
                done.add("stopped");
            }
        };
        try (ZooKeeperClient client = ZooKeeperClient.connect(server.connectString())) {
            LeaderElection election = new LeaderElection(client, "/leaders/reports");
            election.addListener(new LeaderListener() {
                @Override
                public void termBegan(Term term) {
                    reports.start(term.number());
                }

                @Override
                public void termEnded(Term term) {
                    reports.stop();
                }
            });
            election.join();
            assertThat(election.awaitLeadership(Duration.ofSeconds(120))).isPresent();
            election.leave().get(120, TimeUnit.SECONDS);
        }
        assertThat(done).containsExactly("started with a token", "stopped");
    }

    private CompletableFuture<String> work(Lease lease) {
        return CompletableFuture.supplyAsync(() -> lease.path() + " " + lease.isValid());
    }

    @Test
    @SuppressWarnings("FutureReturnValueIgnored") // as the page has it: the node goes in the background
    void futureWithALimit(EmbeddedZooKeeper server) throws Exception {
        try (ZooKeeperClient client = ZooKeeperClient.connect(server.connectString())) {
            InterProcessMutex mutex = new InterProcessMutex(client, "/locks/orders");
            CompletableFuture<String> result = mutex.acquireAsync()
                    .orTimeout(30, TimeUnit.SECONDS)
                    .thenCompose(lease -> work(lease).whenComplete((value, failure) -> lease.closeAsync()));
            assertThat(result.join()).isEqualTo("/locks/orders true");
            mutex.acquire().close();
        }
    }

    @Test
    void mutexThatIsPassedOnInside(EmbeddedZooKeeper server) throws Exception {
        try (ZooKeeperClient client = ZooKeeperClient.connect(server.connectString())) {
            HandoffMutex mutex = new HandoffMutex(client, "/locks/orders", 64);
            mutex.acquire().close();
        }
        assertThat(server.children("/locks/orders")).isEmpty();
    }

    @Test
    void mutexThatIsKept(EmbeddedZooKeeper server) throws Exception {
        try (ZooKeeperClient client = ZooKeeperClient.connect(server.connectString())) {
            HandoffMutex mutex = new HandoffMutex(client, "/locks/orders", 64).keepFor(Duration.ofSeconds(10));
            mutex.acquire().close();
        }
        assertThat(server.children("/locks/orders")).isEmpty();
    }

    private void settle() {
        done.add("settled");
    }

    @Test
    void lockKeptForAWhile(EmbeddedZooKeeper server) throws Exception {
        try (ZooKeeperClient client = ZooKeeperClient.connect(server.connectString())) {
            InterProcessMutex mutex = new InterProcessMutex(client, "/locks/settling");
            Lease lease = mutex.acquireAsync().join();
            settle();
            CompletableFuture<Void> givenBack = lease.closeAfter(Duration.ofSeconds(30));
            assertThat(mutex.tryAcquire()).isEmpty();
            lease.close();
            givenBack.get(120, TimeUnit.SECONDS);
            assertThat(mutex.tryAcquire()).isPresent();
        }
        assertThat(done).containsExactly("settled");
    }

    static Stream<String> sources() {
        return Stream.of(
                "recipes-core/src/main/java/dev/zkrecipes/core/InterProcessLock.java",
                "recipes-core/src/main/java/dev/zkrecipes/core/Lease.java",
                "recipes-core/src/main/java/dev/zkrecipes/core/Revoker.java",
                "recipes-mutex/src/main/java/dev/zkrecipes/mutex/InterProcessMutex.java",
                "recipes-rwlock/src/main/java/dev/zkrecipes/rwlock/InterProcessReadWriteLock.java",
                "recipes-semaphore/src/main/java/dev/zkrecipes/semaphore/InterProcessSemaphore.java",
                "recipes-leader/src/main/java/dev/zkrecipes/leader/LeaderElection.java",
                "recipes-multilock/src/main/java/dev/zkrecipes/multilock/InterProcessMultiLock.java");
    }

    @ParameterizedTest
    @MethodSource("sources")
    void examplesInJavadoc_areCodeOfThisTest(String file) throws IOException {
        String text = Files.readString(HOUSE.resolve(file));
        String code = String.join("\n", statements(Files.readString(sourceOfThisTest())));
        Matcher block = JAVADOC.matcher(text);
        int blocks = 0;
        for (; block.find(); blocks++) {
            assertThat(code).contains(String.join("\n", statements(block.group(1))));
        }
        assertThat(blocks).isPositive();
    }

    private static Path sourceOfThisTest() {
        return Path.of("src/test/java", ExamplesIT.class.getName().replace('.', '/') + ".java");
    }

    /** The lines without comments and indentation. */
    private static List<String> statements(String java) {
        List<String> lines = new ArrayList<>();
        for (String line : java.lines().toList()) {
            String bare = line.replaceFirst("^ +\\* ?", "")
                    .replaceFirst("//.*$|^ +\\*$", "")
                    .strip();
            if (!bare.isEmpty()) {
                lines.add(bare);
            }
        }
        return lines;
    }
}
