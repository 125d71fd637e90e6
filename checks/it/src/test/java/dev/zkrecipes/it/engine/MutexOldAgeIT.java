// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockLimitException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.Fault;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import dev.zkrecipes.test.internal.Workers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** P13: a lock path that has numbered two billion nodes is reset, and nobody who holds or waits is harmed. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper(tickTimeMillis = 100)
class MutexOldAgeIT {
    private static final int OLD = 1 << 30;
    private static final int WORN_OUT = Integer.MAX_VALUE - (1 << 20) + 1;
    /** So long that no lease is checked, by a multi too, beside what is counted or lost here. */
    private static final Duration SESSION = Duration.ofSeconds(60);

    private static final Duration BRIEF = Duration.ofSeconds(2);

    private final EmbeddedZooKeeper server;
    private final String parent;
    private final String path;
    private ZooKeeperClient client;
    private int counter; // not volatile, not atomic: the lock is all there is
    private long lastToken;

    MutexOldAgeIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.parent = "/" + test.getTestMethod().orElseThrow().getName()
                + test.getDisplayName().hashCode();
        this.path = parent + "/lock";
    }

    @BeforeEach
    void connect() throws InterruptedException {
        client = client(server.connectString());
    }

    @AfterEach
    void close() {
        client.close();
    }

    private static ZooKeeperClient client(String connectString) throws InterruptedException {
        return client(connectString, SESSION);
    }

    private static ZooKeeperClient client(String connectString, Duration session) throws InterruptedException {
        return TestClients.connect(connectString, session);
    }

    private void age(int next) {
        server.setSequenceCounter(path, next);
    }

    private List<Long> numbers() {
        return server.children(path).stream()
                .map(name -> Long.parseLong(name.substring(name.length() - 10)))
                .toList();
    }

    private void increment(Lease lease) {
        assertThat(lease.fencingToken()).isGreaterThan(lastToken);
        lastToken = lease.fencingToken();
        counter = counter + 1;
        String node = lease.guard().getPath();
        assertThat(Long.parseLong(node.substring(node.length() - 10))).isLessThan(WORN_OUT);
    }

    /** Whether the lock is busy cannot always be seen so soon. */
    private static Optional<Lease> triedBriefly(InterProcessMutex mutex) throws InterruptedException {
        try {
            return mutex.tryAcquire(Duration.ofMillis(20));
        } catch (LockConnectionException e) {
            return Optional.empty();
        }
    }

    /** A request that is refused comes again, as the message says. */
    private static Lease acquire(InterProcessMutex mutex, boolean briefly) throws InterruptedException {
        while (true) {
            try {
                Optional<Lease> tried = briefly ? triedBriefly(mutex) : mutex.tryAcquire();
                return tried.isPresent() ? tried.get() : mutex.acquire();
            } catch (LockLimitException e) {
                Thread.sleep(ThreadLocalRandom.current().nextInt(10, 200));
            }
        }
    }

    /** Eight clients come in every way; one of them crashes in the queue, and one holds for long. */
    @ParameterizedTest
    @ValueSource(ints = {OLD, WORN_OUT - 30, Integer.MAX_VALUE - 5})
    @Tag("H05")
    @Tag("soak")
    void manyContenders_areServedAcrossTheEnd(int start) throws Exception {
        InterProcessMutex first = new InterProcessMutex(client, path);
        Lease held = first.acquire();
        age(start);
        List<ZooKeeperClient> open = new ArrayList<>();
        try (Workers workers = new Workers();
                FaultProxy proxy = FaultProxy.to(server);
                ZooKeeperClient crashing = client(proxy.connectString(), BRIEF)) {
            CompletableFuture<Lease> crashed = new InterProcessMutex(crashing, path).acquireAsync();
            Soon.await().until(() -> server.children(path).size() > 1 || start > WORN_OUT);
            for (int c = 0; c < 8; c++) {
                ZooKeeperClient contender = client(server.connectString());
                open.add(contender);
                InterProcessMutex mutex = new InterProcessMutex(contender, path);
                workers.start("contender-" + c, () -> {
                    for (int i = 0; i < 20; i++) {
                        try (Lease lease = acquire(mutex, i % 2 != 0)) {
                            increment(lease);
                        }
                    }
                });
            }
            proxy.refuse();
            Soon.await().until(() -> server.watchCount() > 0 || start > WORN_OUT);
            increment(held);
            held.close();
            workers.join(Duration.ofSeconds(60));
            assertThat(crashed.cancel(true)).isEqualTo(start < WORN_OUT);
        } finally {
            open.forEach(ZooKeeperClient::close);
        }
        assertThat(counter).isEqualTo(8 * 20 + 1);
        Soon.await().untilAsserted(() -> assertThat(numbers()).isEmpty());
        first.acquire().close(); // saw nobody else
        Soon.await().until(() -> server.children(path).isEmpty());
        awaitYoung(first);
        try (Lease young = first.acquire()) {
            assertThat(young.fencingToken()).isGreaterThan(lastToken);
            assertThat(numbers())
                    .singleElement()
                    .satisfies(number -> assertThat(number).isLessThan(10_000));
        }
    }

    @Test
    @Tag("H05")
    void reset_isOneMulti_andOnlyForAnOldCounter() throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        mutex.acquire().close();
        age(OLD - 1);
        RequestCounts before = server.requests();
        mutex.acquire().close();
        Lease old = mutex.acquire();
        old.close();
        Soon.await().until(() -> server.requests().minus(before).of(RequestType.MULTI) == 1);
        RequestCounts sent = server.requests().minus(before);
        assertThat(sent.of(RequestType.DELETE)).isEqualTo(2);
        assertThat(sent.of(RequestType.GET_DATA)).isEqualTo(1);
        assertThat(sent.of(RequestType.GET_ACL)).isEqualTo(1);
    }

    @Test
    @Tag("H121")
    void tryBehindAReleaseInBackground_isNeverEmpty_andAnOldCounterCostsFewRequests() throws Exception {
        client.close();
        client = client(server.connectString(), Duration.ofSeconds(12)); // a reset is tried every two seconds
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        mutex.acquire().close();
        age(OLD);
        RequestCounts before = server.requests();
        int cycles = 200;
        Lease held = mutex.acquire();
        for (int i = 0; i < cycles; i++) {
            var unused = held.closeAsync();
            held = mutex.tryAcquire().orElseThrow();
        }
        RequestCounts sent = server.requests().minus(before);
        assertThat(sent.of(RequestType.DELETE)).isEqualTo(cycles);
        assertThat(sent.of(RequestType.GET_DATA)).as("%s", sent).isLessThanOrEqualTo(cycles / 10);
        held.close();
        awaitYoung(mutex);
    }

    /** When nobody is there, the counter is reset; who looks is there. */
    private void awaitYoung(InterProcessMutex mutex) {
        Soon.await().until(() -> {
            try (Lease young = mutex.acquire()) {
                return numbers().stream().allMatch(number -> number < OLD);
            }
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("H05")
    void resetWithALostRequestOrReply_leavesNothing(boolean reply) throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server);
                ZooKeeperClient faulty = client(proxy.connectString())) {
            InterProcessMutex mutex = new InterProcessMutex(faulty, path);
            mutex.acquire().close();
            age(OLD);
            Lease old = mutex.acquire();
            long token = old.fencingToken();
            Fault fault = reply ? proxy.dropReply(RequestType.MULTI, 1) : proxy.dropRequest(RequestType.MULTI, 1);
            old.closeAsync().get();
            fault.awaitFired(Duration.ofSeconds(20));
            Soon.await().until(() -> server.children(path).isEmpty());
            try (Lease next = mutex.acquire()) {
                assertThat(next.fencingToken()).isGreaterThan(token);
                assertThat(numbers()).containsExactly(reply ? 0L : OLD + 1L);
            }
        }
    }

    @Test
    @Tag("H05")
    void dataAndRightsOfThePath_areKept() throws Exception {
        ZooKeeper handle = client.zooKeeper().orElseThrow();
        handle.addAuthInfo("digest", "admin:secret".getBytes(StandardCharsets.UTF_8));
        server.createNode(parent, new byte[0]);
        List<ACL> acl = new ArrayList<>(List.of(
                new ACL(Perms.ALL, new Id("digest", DigestAuthenticationProvider.generateDigest("admin:secret"))),
                new ACL(Perms.READ, Ids.ANYONE_ID_UNSAFE)));
        handle.create(path, "note".getBytes(StandardCharsets.UTF_8), acl, CreateMode.PERSISTENT);
        age(WORN_OUT);
        new InterProcessMutex(client, path).acquire().close();
        assertThat(server.data(path)).hasValue("note".getBytes(StandardCharsets.UTF_8));
        assertThat(handle.getACL(path, new Stat())).isEqualTo(acl);
        try (Lease lease = new InterProcessMutex(client, path).acquire()) {
            assertThat(numbers()).containsExactly(1L);
        }
        server.reapContainers();
        assertThat(server.nodeExists(path)).isTrue();
    }

    @Test
    @Tag("H05")
    void subNodeInTheWay_isReported_andHarmsNoHolder() throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        try (Lease lease = mutex.acquire();
                ZooKeeperClient rival = client(server.connectString())) {
            server.createNode(path + "/sub", new byte[0]);
            age(WORN_OUT);
            assertThatThrownBy(new InterProcessMutex(rival, path)::acquire)
                    .isInstanceOf(LockLimitException.class)
                    .hasMessageContaining(path)
                    .hasMessageContaining("sub");
            lease.verify();
        }
        server.deleteNode(path + "/sub");
        mutex.acquire().close();
    }

    @Test
    @Tag("H05")
    void holderWithASubNodeInTheWay_leavesByADelete() throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        mutex.acquire().close();
        age(OLD);
        Lease lease = mutex.acquire();
        server.createNode(path + "/sub", new byte[0]);
        lease.close();
        Soon.await().until(() -> server.children(path).equals(List.of("sub")));
        mutex.acquire().close();
    }

    @Test
    @Tag("H05")
    void missingRights_areReported_andHarmNoRelease() throws Exception {
        ZooKeeper handle = client.zooKeeper().orElseThrow();
        List<ACL> noDelete =
                new ArrayList<>(List.of(new ACL(Perms.READ | Perms.CREATE | Perms.ADMIN, Ids.ANYONE_ID_UNSAFE)));
        handle.create(parent, new byte[0], noDelete, CreateMode.PERSISTENT);
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        mutex.acquire().close();
        age(OLD);
        mutex.acquire().close();
        Soon.await().until(() -> server.children(path).isEmpty());
        age(WORN_OUT);
        assertThatThrownBy(mutex::acquire)
                .isInstanceOf(LockLimitException.class)
                .hasMessageContaining(path)
                .hasMessageContaining("DELETE on " + parent);
        Soon.await().until(() -> server.children(path).isEmpty());
    }

    @Test
    @Tag("H05")
    void hiddenDigests_areKept() throws Exception {
        ZooKeeper handle = client.zooKeeper().orElseThrow();
        server.createNode(parent, new byte[0]);
        List<ACL> acl = new ArrayList<>(List.of(
                new ACL(Perms.ALL, new Id("digest", DigestAuthenticationProvider.generateDigest("admin:secret"))),
                new ACL(Perms.READ | Perms.CREATE | Perms.DELETE, Ids.ANYONE_ID_UNSAFE)));
        handle.create(path, new byte[0], acl, CreateMode.PERSISTENT);
        age(WORN_OUT);
        assertThatThrownBy(new InterProcessMutex(client, path)::acquire)
                .isInstanceOf(LockLimitException.class)
                .hasMessageContaining("ADMIN rights");
        handle.addAuthInfo("digest", "admin:secret".getBytes(StandardCharsets.UTF_8));
        assertThat(handle.getACL(path, new Stat())).isEqualTo(acl);
        new InterProcessMutex(client, path).acquire().close();
        assertThat(handle.getACL(path, new Stat()).stream().map(ACL::getPerms).collect(Collectors.toSet()))
                .hasSize(2);
    }

    @Test
    @Tag("H05")
    void chroot_isNotRecreated() throws Exception {
        server.createNode(parent, new byte[0]);
        server.setSequenceCounter(parent, WORN_OUT);
        try (ZooKeeperClient below = client(server.connectString() + parent)) {
            assertThatThrownBy(new InterProcessMutex(below, "/")::acquire)
                    .isInstanceOf(LockLimitException.class)
                    .hasMessageContaining("root");
        }
        assertThat(server.nodeExists(parent)).isTrue();
    }
}
