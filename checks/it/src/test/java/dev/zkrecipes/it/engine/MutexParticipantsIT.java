// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.IncompatibleNodeException;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which nodes are in the queue, what is shown of them, and what does not belong there. */
@Timeout(600)
@WithZooKeeper
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MutexParticipantsIT {
    private static final byte[] NOTHING = {};

    private EmbeddedZooKeeper server;
    private ZooKeeperClient anna;
    private ZooKeeperClient ben;
    private String path;

    @BeforeAll
    void open(EmbeddedZooKeeper started) throws InterruptedException {
        server = started;
        anna = connect("anna");
        ben = connect("ben");
    }

    @AfterAll
    void close() {
        anna.close();
        ben.close();
    }

    @BeforeEach
    void name() {
        path = "/participants-" + UUID.randomUUID();
    }

    private ZooKeeperClient connect(String label) throws InterruptedException {
        return TestClients.connect(
                ZooKeeperClient.builder().connectString(server.connectString()).ownerLabel(label));
    }

    private static long session(ZooKeeperClient client) {
        return client.zooKeeper().orElseThrow().getSessionId();
    }

    /** As every library makes its lock nodes. */
    private void createEphemeral(String node) throws Exception {
        ben.zooKeeper().orElseThrow().create(node, NOTHING, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
    }

    // ---- What is shown.

    @Test
    @Tag("H62")
    void unusedPath_hasNoParticipants() throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(anna, path + "/not/there");
        assertThat(mutex.participants()).isEmpty();
        assertThat(server.nodeExists(path)).isFalse();
        server.createNode(path, NOTHING);
        assertThat(new InterProcessMutex(anna, path).participants()).isEmpty();
    }

    @Test
    @Tag("H64")
    void holderAndWaiters_areShownInOrder() throws Exception {
        InterProcessMutex annas = new InterProcessMutex(anna, path);
        InterProcessMutex bens = new InterProcessMutex(ben, path);
        Lease held = bens.acquire();
        CompletableFuture<Lease> second = annas.acquireAsync();
        await().until(() -> server.children(path).size() == 2);
        CompletableFuture<Lease> third = bens.acquireAsync();
        await().until(() -> server.children(path).size() == 3);

        List<Participant> shown = annas.participants();
        assertThat(shown).extracting(Participant::owner).containsExactly("ben", "anna", "ben");
        assertThat(shown).extracting(Participant::sessionId).containsExactly(session(ben), session(anna), session(ben));
        assertThat(shown).extracting(Participant::position).containsExactly(0, 1, 2);
        assertThat(shown).extracting(Participant::holding).containsExactly(true, false, false);
        assertThat(shown).extracting(Participant::node).containsExactlyInAnyOrderElementsOf(server.children(path));
        assertThat(shown)
                .extracting(Participant::age)
                .allSatisfy(age -> assertThat(age).isBetween(Duration.ZERO, Duration.ofMinutes(10)));

        second.cancel(true);
        await().until(() -> server.children(path).size() == 2);
        assertThat(annas.participants()).extracting(Participant::owner).containsExactly("ben", "ben");
        held.close();
        third.get(120, TimeUnit.SECONDS).close();
        assertThat(annas.participants()).isEmpty();
    }

    // ---- What does not belong.

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0123456789abcdef0123456789abcdef-__READ__0000000001",
                "0123456789abcdef0123456789abcdef-__WRIT__0000000001",
                "_c_01234567-89ab-cdef-0123-456789abcdef-__WRIT__0000000001",
                "0123456789abcdef0123456789abcdef__lock__0000000001",
                "0123456789abcdef0123456789abcdef__rlock__0000000001",
                "x-72057594037927936-0000000001",
                "_c_0123456789abcdef0123456789abcdef-lock-0000000001x-0000000002",
                "0123456789abcdef0123456789abcdef-lease.2-0000000001",
                "\u202e[31m-0000000001",
                "lock_0000000001",
                "locks--2147483648"
            })
    @Tag("H66")
    void nodeOfAnotherRecipeOrLibrary_failsTheAcquire_byName(String name) throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(anna, path);
        Lease held = mutex.acquire();
        createEphemeral(path + "/" + name);
        String shown = name.replace("\u202e", "\\u202e");

        held.verify(); // who holds already is not disturbed
        mutex.acquire().close();
        InterProcessMutex next = new InterProcessMutex(ben, path);
        assertThatThrownBy(next::tryAcquire)
                .isExactlyInstanceOf(IncompatibleNodeException.class)
                .hasMessageContaining(path)
                .hasMessageContaining(shown);
        assertThatThrownBy(next::acquire).isExactlyInstanceOf(IncompatibleNodeException.class);
        assertThatThrownBy(() -> next.tryAcquire(Duration.ofSeconds(120)))
                .isExactlyInstanceOf(IncompatibleNodeException.class);
        assertThat(next.acquireAsync())
                .failsWithin(Duration.ofSeconds(120))
                .withThrowableThat()
                .withCauseExactlyInstanceOf(IncompatibleNodeException.class);
        assertThatThrownBy(next::participants).isExactlyInstanceOf(IncompatibleNodeException.class);
        await().until(() -> server.children(path).size() == 2);
        Soon.await().until(held::isValid);
        held.close();
        assertThat(server.children(path)).containsExactly(name);
        server.deleteNode(path + "/" + name);
        next.acquire().close();
    }

    /** It looks like the folder of Curator's semaphores to the path above, and to nobody else. */
    @Test
    @Tag("H30")
    void lockOfAnIdThatIsCalledLeases_worksUnlessThePathAboveIsALock() throws Exception {
        Lease inner = new InterProcessMutex(anna, path + "/leases").acquire();
        Lease beside = new InterProcessMutex(anna, path + "/other").acquire();
        assertThat(new InterProcessMutex(ben, path + "/leases").tryAcquire()).isEmpty();
        assertThatThrownBy(() -> new InterProcessMutex(ben, path).tryAcquire())
                .isInstanceOf(IncompatibleNodeException.class)
                .hasMessageContaining("has the child " + path + "/leases");
        beside.close();
        inner.close();
    }

    /** One in 281 of random UUIDs ends in a letter and ten digits. */
    @ParameterizedTest
    @ValueSource(
            strings = {"0b8e7d3a-6c1f-4a52-9d3e-1b1234567890", "invoice-2026000017", "a-0000000001", "n0000000001"})
    @Tag("H113")
    void lockOfAPathWhoseNameEndsInTenDigits_doesNotKeepItsParentFromBeingLocked(String name) throws Exception {
        InterProcessMutex inner = new InterProcessMutex(anna, path + "/" + name);
        InterProcessMutex outer = new InterProcessMutex(anna, path);
        Lease below = inner.acquire();
        Lease lease = outer.tryAcquire().orElseThrow();
        assertThat(outer.participants()).hasSize(1);
        assertThat(new InterProcessMutex(ben, path).tryAcquire()).isEmpty();
        assertThat(new InterProcessMutex(ben, path + "/" + name).tryAcquire()).isEmpty();
        lease.close();
        RequestCounts before = server.requests();
        outer.acquire().close();
        assertThat(server.requests().minus(before).of(RequestType.GET_ACL))
                .as("what is known is not asked again")
                .isZero();
        Soon.await().until(below::isValid);
        below.close();
        outer.acquire().close();
    }

    private static void assertOwners(List<Participant> participants, String... owners) {
        assertThat(participants).extracting(Participant::owner).containsExactly(owners);
    }

    @Test
    void lockOwnerLabel_replacesTheClients() throws Exception {
        LockOptions named = LockOptions.defaults().withOwnerLabel("nightly report");
        InterProcessMutex mutex = new InterProcessMutex(anna, path + "/named", named);
        try (Lease lease = mutex.acquire()) {
            assertOwners(mutex.participants(), "nightly report");
            Soon.await().until(lease::isValid);
        }
        InterProcessReadWriteLock modes = new InterProcessReadWriteLock(anna, path + "/named-modes", named);
        try (Lease writing = modes.writeLock().acquire();
                Lease reading = modes.readLock().acquire()) {
            assertOwners(modes.readLock().participants(), "nightly report", "nightly report");
            assertThat(writing.fencingToken()).isEqualTo(reading.fencingToken());
        }
        InterProcessMultiLock both = new InterProcessMultiLock(
                List.of(mutex, new InterProcessMutex(anna, path + "/named-too")),
                LockOptions.defaults().withOwnerLabel("both"));
        try (Lease lease = both.acquire()) {
            assertOwners(both.participants(), "nightly report", "both");
            lease.verify();
        }
        try (Lease plain = new InterProcessMutex(anna, path + "/named").acquire()) {
            assertOwners(mutex.participants(), "anna");
            plain.verify();
        }
    }
}
