// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.Ran;
import dev.zkrecipes.cli.operate.PathView.Place;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code zklock revoke} and {@code zklock break}. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper
class GiveBackIT {
    private static final byte[] NOTHING = {};

    private final EmbeddedZooKeeper server;
    private final String path;
    private ZooKeeperClient client;

    GiveBackIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.path = "/" + test.getTestMethod().orElseThrow().getName()
                + test.getDisplayName().hashCode();
    }

    @BeforeEach
    void connect() throws InterruptedException {
        client = TestClients.connect(
                ZooKeeperClient.builder().connectString(server.connectString()).ownerLabel("orders 7"));
    }

    @AfterEach
    void close() {
        client.close();
    }

    private Ran run(String... arguments) {
        return Ran.zklock(connected(arguments));
    }

    private String[] connected(String... arguments) {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.add("--connect=" + server.connectString());
        return all.toArray(String[]::new);
    }

    private Ran breakAnswering(String answer, String... arguments) {
        return Ran.command(new BreakCommand(new StringReader(answer)), connected(arguments));
    }

    private static Lease take(InterProcessLock lock) {
        return Soon.get(lock.acquireAsync());
    }

    /** A lease that is given back as soon as it is asked for, and who asked. */
    private static CompletableFuture<RevocationRequest> obedient(Lease lease) {
        CompletableFuture<RevocationRequest> heard = new CompletableFuture<>();
        lease.onRevocationRequested(request -> {
            heard.complete(request);
            lease.close();
        });
        return heard;
    }

    private InterProcessLock lock(String recipe) {
        return switch (recipe) {
            case "mutex" -> new InterProcessMutex(client, path);
            case "read" -> new InterProcessReadWriteLock(client, path).readLock();
            case "write" -> new InterProcessReadWriteLock(client, path).writeLock();
            default -> new InterProcessSemaphore(client, path, 3).permits(2);
        };
    }

    @ParameterizedTest
    @ValueSource(strings = {"mutex", "read", "write", "semaphore"})
    void listeningHolder_givesTheLockBack(String recipe) {
        CompletableFuture<RevocationRequest> heard = obedient(take(lock(recipe)));
        Ran ran = run("revoke", "--wait=30", path);
        assertThat(ran.code()).as(ran.err()).isZero();
        assertThat(Soon.get(heard).grace()).isEmpty();
        assertThat(ran.lines()).hasSize(2);
        assertThat(ran.lines().get(0)).matches("asked orders 7 \\(\\w{32}-.*\\) to give " + path + " back");
        assertThat(ran.lines().get(1)).matches("orders 7 \\(.*\\) gave it back after \\d+\\.\\d{3} s");
    }

    @Test
    void withoutWait_isAskedOnly() {
        Lease lease = take(lock("mutex"));
        CompletableFuture<RevocationRequest> heard = new CompletableFuture<>();
        lease.onRevocationRequested(heard::complete);
        Ran ran = run("revoke", path);
        assertThat(ran.code()).isZero();
        assertThat(ran.lines()).hasSize(1);
        assertThat(Soon.get(heard).grace()).isEmpty();
        Soon.await().until(lease::isValid);
    }

    @Test
    void deafHolder_isReportedAfterTheWait() {
        Lease lease = take(lock("mutex"));
        Ran ran = run("revoke", "--wait=0.05", path);
        assertThat(ran.code()).isEqualTo(1);
        assertThat(ran.lines().get(1)).contains("still holds it after ");
        Soon.await().until(lease::isValid);
    }

    /** If this machine stands still, the node may go before its holder has read the request: then again, with more time. */
    @Test
    void grace_breaksTheLease_andTheHolderHearsOfIt() {
        Optional<Duration> heard = Optional.empty();
        int seconds = 2;
        for (; heard.isEmpty() && seconds < 60; seconds *= 3) {
            heard = graceThatIsHeard(seconds);
        }
        assertThat(heard).contains(Duration.ofSeconds(seconds / 3));
    }

    /** Has a lease broken after so many seconds, and returns of which grace its holder has heard before. */
    private Optional<Duration> graceThatIsHeard(int seconds) {
        Lease lease = take(lock("mutex"));
        AtomicReference<Optional<Duration>> heard = new AtomicReference<>(Optional.empty());
        lease.onRevocationRequested(request -> heard.set(request.grace()));
        Ran ran = run("revoke", "--grace=" + seconds, path);
        assertThat(ran.code()).isZero();
        assertThat(ran.lines().get(0)).endsWith(", or lose it in " + seconds + ".000 s");
        assertThat(ran.lines().get(1)).contains("did not give it back: its lease was broken");
        Soon.await().until(() -> lease.state() == LeaseState.LOST);
        return heard.get();
    }

    @Test
    void allHolders_areAskedByOneRequest_butNamedNodesOneByOne() {
        InterProcessSemaphore semaphore = new InterProcessSemaphore(client, path, 3);
        Lease first = take(semaphore.permits(1));
        Lease second = take(semaphore.permits(1));
        CompletableFuture<RevocationRequest> heard = new CompletableFuture<>();
        first.onRevocationRequested(heard::complete);
        CompletableFuture<RevocationRequest> other = obedient(second);
        String node = server.children(path).stream()
                .sorted((a, b) -> a.substring(32).compareTo(b.substring(32)))
                .toList()
                .get(1);
        Ran ran = run("revoke", "--wait=30", "--node", node, path);
        assertThat(ran.code()).as(ran.err()).isZero();
        assertThat(Soon.get(other)).isNotNull();
        assertThat(heard).isNotDone();
        CompletableFuture<RevocationRequest> third = obedient(take(semaphore.permits(1)));
        assertThat(run("revoke", path).lines()).hasSize(2);
        assertThat(Soon.get(heard).id()).isEqualTo(Soon.get(third).id());
    }

    @ParameterizedTest
    @ValueSource(strings = {"revoke", "break"})
    void freeLock_isReportedAsFree(String command) {
        Ran ran = run(command, path);
        assertThat(ran.code()).isZero();
        assertThat(ran.out()).isEqualTo(path + ": nobody holds it\n");
    }

    @ParameterizedTest
    @CsvSource({
        "revoke, range.1-0000000001",
        "break, range.1-0000000001",
        "revoke, lease.1-0000000001",
        "break, lease.1-0000000001"
    })
    void unknownHolders_areLeftAlone(String command, String name) throws Exception {
        server.createNode(path, NOTHING);
        client.zooKeeper()
                .orElseThrow()
                .create(path + "/" + name, NOTHING, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
        Ran ran = run(command, path);
        assertThat(ran.code()).isEqualTo(65);
        assertThat(ran.err())
                .startsWith("zklock: zklock cannot tell who holds " + path)
                .contains("name the nodes with --node");
        assertThat(server.children(path)).containsExactly(name);
        assertThat(server.data(path + "/" + name))
                .hasValueSatisfying(data -> assertThat(data).isEmpty());
    }

    @Test
    void curatorsSemaphore_isNotAsked_butCanBeBroken() {
        String node = "_c_01234567-89ab-cdef-0123-456789abcdef" + "-lease-0000000000";
        server.createNode(path, NOTHING);
        server.createNode(path + "/locks", NOTHING);
        server.createNode(path + "/leases", NOTHING);
        server.createNode(path + "/leases/" + node, NOTHING);
        Ran asked = run("revoke", path);
        assertThat(asked.code()).isEqualTo(65);
        assertThat(asked.err()).contains("nobody listens for requests");
        Ran broken = run("break", "--yes", path);
        assertThat(broken.out()).isEqualTo("deleted the node of unknown (leases/" + node + ")\n");
        assertThat(server.children(path + "/leases")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"revoke", "break"})
    void missingNode_isExplained(String command) {
        take(lock("mutex"));
        Ran ran = run(command, "--node", "x\u001b", path);
        assertThat(ran.code()).isEqualTo(65);
        assertThat(ran.err()).startsWith("zklock: no node x\\u001b stands in the queue of " + path);
        assertThat(server.children(path)).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"y\n", "YES\n", " yes"})
    void agreement_breaksTheLease_andLetsTheNextIn(String answer) {
        Lease lease = take(lock("mutex"));
        CompletableFuture<Lease> next = lock("mutex").acquireAsync();
        Soon.await().until(() -> server.children(path).size() == 2);
        Ran ran = breakAnswering(answer, path);
        assertThat(ran.code()).as(ran.err()).isZero();
        assertThat(ran.out())
                .startsWith("This deletes in the queue of " + path + ":\n  orders 7 (")
                .contains(
                        "The holder hears of the loss, but may keep working until then.\nBreak? [y/N] deleted the node of orders 7 (");
        Soon.get(next);
        Soon.await().until(() -> lease.state() == LeaseState.LOST);
    }

    @ParameterizedTest
    @ValueSource(strings = {"n\n", "\n", "yesterday\n"})
    void anyOtherAnswer_breaksNothing(String answer) throws InterruptedException {
        Lease lease = take(lock("mutex"));
        Ran ran = breakAnswering(answer, path);
        assertThat(ran.code()).isEqualTo(1);
        assertThat(ran.out()).endsWith("nothing was broken\n");
        lease.verify(); // or LockLostException
    }

    @Test
    void nobodyToAsk_breaksNothing() throws InterruptedException {
        Lease lease = take(lock("mutex"));
        Ran ran = breakAnswering("", path);
        assertThat(ran.code()).isEqualTo(64);
        assertThat(ran.err()).contains("there is nobody to ask, so nothing was broken: give --yes");
        lease.verify(); // or LockLostException
    }

    @Test
    void namedWaiter_mayQueueAgain() throws InterruptedException {
        Lease lease = take(lock("mutex"));
        CompletableFuture<Lease> next = lock("mutex").acquireAsync();
        Soon.await().until(() -> server.children(path).size() == 2);
        String waiter = server.children(path).stream()
                .filter(name -> name.endsWith("1"))
                .findFirst()
                .orElseThrow();
        Ran ran = breakAnswering("y", "--node", waiter, path);
        assertThat(ran.code()).isZero();
        assertThat(ran.out())
                .contains("which is not known to hold: it may queue again", "The holder of the lock keeps it.");
        assertThat(server.children(path)).doesNotContain(waiter);
        assertThat(next.isDone() && !next.isCompletedExceptionally())
                .as("granted")
                .isFalse();
        lease.verify(); // or LockLostException
    }

    @Test
    void changedNode_isDeleted_butItsSuccessorIsNot() throws Exception {
        server.createNode(path, NOTHING);
        server.createNode(path + "/lock-0000000001", NOTHING);
        Place seen = Tree.read(new Reads(client, false), path, false)
                .lock()
                .view()
                .places()
                .get(0);
        server.setData(path + "/lock-0000000001", "marked".getBytes(StandardCharsets.UTF_8));
        assertThat(BreakCommand.delete(client, path, seen)).isTrue();
        server.createNode(path + "/lock-0000000001", NOTHING);
        server.setData(path + "/lock-0000000001", "another".getBytes(StandardCharsets.UTF_8));
        assertThat(BreakCommand.delete(client, path, seen)).isFalse();
        assertThat(server.children(path)).containsExactly("lock-0000000001");
    }

    @Test
    void recreatedNode_ofTheSameVersion_isNotDeleted() throws Exception {
        server.createNode(path, NOTHING);
        server.createNode(path + "/lock-0000000001", NOTHING);
        Place seen = Tree.read(new Reads(client, false), path, false)
                .lock()
                .view()
                .places()
                .get(0);
        server.deleteNode(path + "/lock-0000000001");
        server.createNode(path + "/lock-0000000001", NOTHING);
        assertThat(BreakCommand.delete(client, path, seen)).isFalse();
        assertThat(server.children(path)).containsExactly("lock-0000000001");
    }

    @Test
    void unreadableNode_isDeletedByItsName() throws Exception {
        ACL deletable = new ACL(ZooDefs.Perms.ALL, ZooDefs.Ids.ANYONE_ID_UNSAFE);
        ACL own = new ACL(ZooDefs.Perms.ALL, new Id("digest", "u:x"));
        ZooKeeper zk = client.zooKeeper().orElseThrow();
        zk.create(path, NOTHING, new ArrayList<>(List.of(deletable)), CreateMode.PERSISTENT);
        zk.create(path + "/lock-0000000001", NOTHING, new ArrayList<>(List.of(own)), CreateMode.PERSISTENT);
        Ran ran = run("break", "--yes", "--node", "lock-0000000001", path);
        assertThat(ran.code()).as(ran.err()).isZero();
        assertThat(server.children(path)).isEmpty();
    }

    @Test
    void noRightToDelete_endsWith77() throws Exception {
        ACL everybody = new ACL(ZooDefs.Perms.READ, ZooDefs.Ids.ANYONE_ID_UNSAFE);
        ACL own = new ACL(ZooDefs.Perms.ALL, new Id("digest", "u:x"));
        client.zooKeeper().orElseThrow().create(path, NOTHING, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        server.createNode(path + "/lock-0000000001", NOTHING);
        client.zooKeeper().orElseThrow().setACL(path, new ArrayList<>(List.of(everybody, own)), -1);
        Ran ran = run("break", "--yes", path);
        assertThat(ran.code()).isEqualTo(77);
        assertThat(ran.err())
                .startsWith("zklock: no right to delete " + path + "/lock-0000000001")
                .hasLineCount(1);
        assertThat(server.children(path)).hasSize(1);
    }
}
