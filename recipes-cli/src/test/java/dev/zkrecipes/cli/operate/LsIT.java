// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.cli.Ran;
import dev.zkrecipes.cli.operate.PathView.Place;
import dev.zkrecipes.cli.operate.PathView.State;
import dev.zkrecipes.cli.text.PlainText;
import dev.zkrecipes.cli.text.ReadJson;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.mutex.InterProcessSemaphoreMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/** What {@code zklock ls} says of locks of every kind, and of what only looks like one. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper
class LsIT {
    private static final byte[] NOTHING = {};

    private final EmbeddedZooKeeper server;
    private final String path;
    private ZooKeeperClient client;

    LsIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.path = "/" + test.getTestMethod().orElseThrow().getName();
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

    private Ran ls(String... arguments) {
        List<String> all = new ArrayList<>(List.of("ls", "--connect", server.connectString()));
        all.addAll(List.of(arguments));
        Ran ran = Ran.zklock(all.toArray(String[]::new));
        assertThat(ran.code()).as(ran.err()).isZero();
        assertThat(ran.err()).isEmpty();
        return ran;
    }

    private PathView look(String lockPath) throws InterruptedException {
        return Tree.read(new Reads(client, false), lockPath, false).lock().view();
    }

    /** Asks and waits until the node is in the queue. */
    @CanIgnoreReturnValue
    private CompletableFuture<Lease> queue(InterProcessLock lock) {
        int before = server.nodeExists(path) ? server.children(path).size() : 0;
        CompletableFuture<Lease> wanted = lock.acquireAsync();
        Soon.await()
                .until(() -> server.nodeExists(path) && server.children(path).size() == before + 1);
        return wanted;
    }

    /** That of the library. */
    private void assertAgrees(InterProcessLock lock) throws InterruptedException {
        PathView view = look(path);
        List<Participant> participants = lock.participants();
        assertThat(view.places()).hasSameSizeAs(participants);
        for (int i = 0; i < participants.size(); i++) {
            Participant participant = participants.get(i);
            Place place = view.places().get(i);
            assertThat(place.node().name()).isEqualTo(participant.node());
            assertThat(place.node().kind()).isEqualTo(participant.kind());
            assertThat(place.node().payload()).isEqualTo(participant.payload());
            assertThat(place.owner()).isEqualTo(participant.owner());
            assertThat(place.stat().orElseThrow().getEphemeralOwner()).isEqualTo(participant.sessionId());
            assertThat(i).isEqualTo(participant.position());
            assertThat(place.state() == State.HOLDS).isEqualTo(participant.holding());
        }
    }

    @Test
    void mutex_isShownInOrder() throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        Soon.get(queue(mutex));
        queue(new InterProcessSemaphoreMutex(client, path));
        queue(mutex);
        assertAgrees(mutex);
        List<String> lines = ls(path).lines();
        assertThat(lines.get(0)).isEqualTo(path + ": mutex, 1 holds, 2 wait");
        String session =
                "0x" + Long.toHexString(client.zooKeeper().orElseThrow().getSessionId());
        assertThat(lines.get(2))
                .matches(" +0  holds  lock +\\d+s ago +" + session + "  orders 7  \\w{32}-lock-0000000000");
        assertThat(lines.get(4)).matches(" +2  waits  lock  .*-lock-0000000002");
        assertThat(lines).hasSize(5);
    }

    @Test
    void readWriteLock_isShown_evenIfAWriterReads() throws Exception {
        InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, path);
        try (Lease written = lock.writeLock().acquire();
                Lease read = lock.readLock().acquire()) {
            queue(lock.readLock());
            queue(lock.writeLock());
            assertAgrees(lock.readLock());
            assertThat(ls(path).lines().get(0)).isEqualTo(path + ": read-write lock, 2 hold, 2 wait");
            written.close();
            Soon.await()
                    .untilAsserted(() -> assertThat(look(path).places())
                            .extracting(Place::state)
                            .containsExactly(State.HOLDS, State.HOLDS, State.WAITS));
            assertAgrees(lock.writeLock());
        }
    }

    @Test
    void semaphore_isShownByTheLimitInForce() throws Exception {
        InterProcessSemaphore semaphore = new InterProcessSemaphore(client, path, 5);
        Soon.get(queue(semaphore.permits(3)));
        queue(semaphore.permits(4));
        queue(semaphore.permits(1));
        assertAgrees(semaphore.permits(1));
        assertThat(ls(path).lines().get(0)).isEqualTo(path + ": semaphore of 5 permits, 1 holds 3, 2 wait for 5");
        semaphore.resize(7);
        assertAgrees(semaphore.permits(1));
        assertThat(ls(path).lines())
                .contains(path + ": semaphore of 7 permits, 2 hold 7, 1 waits for 1")
                .anyMatch(line -> line.startsWith("note: the limit was made as 5 and resized to 7"));
        semaphore.resize(4);
        assertThat(ls(path).lines())
                .contains(
                        "note: ZooKeeper does not show whether those marked ? hold, by the limit of 7 before, or wait");
    }

    @Test
    void missingPath_isFree() {
        assertThat(ls(path).lines().get(0)).isEqualTo(path + ": free");
        assertThat(ls(path).out()).contains("the path does not exist");
        assertThat(ls("-r", path).lines().get(0)).isEqualTo(path + ": 0 locks, 0 held");
        assertThat(server.nodeExists(path)).isFalse();
    }

    @Test
    void otherChildren_areCounted() {
        server.createNode(path, NOTHING);
        server.createNode(path + "/config", NOTHING);
        server.createNode(path + "/item-0000000001", NOTHING);
        assertThat(ls(path).lines())
                .containsExactly(
                        path + ": free",
                        "note: 1 other node below the path; zklock ls -r looks for locks among them",
                        "note: 1 node that no session owns named like those of a lock of unknown kind: no lock can be"
                                + " acquired beside them");
    }

    @Test
    void tree_showsEveryLockAndNothingElse() throws Exception {
        Soon.get(new InterProcessMutex(client, path + "/a/nightly").acquireAsync());
        new InterProcessSemaphore(client, path + "/imports", 3).acquire(2).close();
        server.createNode(path + "/free", NOTHING, CreateMode.CONTAINER);
        server.createNode(path + "/config", NOTHING);
        server.createNode(path + "/config/db", NOTHING);
        server.createNode(path + "/jobs", NOTHING);
        server.createNode(path + "/jobs/job-0000000001", NOTHING);
        server.createNode(path + "/jobs/job-0000000001/locks", NOTHING);
        Soon.get(new InterProcessMutex(client, path + "/jobs/job-0000000001/locks/z").acquireAsync());
        server.createNode(path + "/curator", NOTHING);
        server.createNode(path + "/curator/leases", NOTHING);
        server.createNode(path + "/curator/locks", NOTHING);
        server.createNode(
                path + "/curator/leases/" + "_c_01234567-89ab-cdef-0123-456789abcdef-lease-0000000000", NOTHING);
        assertThat(ls("-r", path).lines().stream()
                        .filter(line -> !line.startsWith("note: "))
                        .map(line -> line.replaceAll(" {2,}\\(?", " | ").replaceAll("queued [0-9]+s ago", "0s")))
                .containsExactly(
                        path + ": 4 locks, 3 held",
                        "PATH | RECIPE | HOLD | WAIT | ? | HELD BY",
                        path + "/a/nightly | mutex | 1 | 0 | 0 | orders 7 (0s)",
                        path + "/curator | Curator's semaphore | 1 | 0 | 0 | unknown (0s)",
                        path + "/imports | semaphore of 3 permits | 0 | 0 | 0",
                        path + "/jobs/job-0000000001/locks/z | mutex | 1 | 0 | 0 | orders 7 (0s)");
        assertThat(ls(path + "/curator").lines().get(0))
                .isEqualTo(path + "/curator: Curator's semaphore, 1 holds, 0 wait");
    }

    /** ZooKeeper removes that container a minute after the last acquire. */
    @Test
    void curatorsSemaphore_isHeldWithoutItsFolderOfLocks() {
        server.createNode(path, NOTHING);
        server.createNode(path + "/leases", NOTHING);
        server.createNode(path + "/leases/" + "_c_01234567-89ab-cdef-0123-456789abcdef-lease-0000000000", NOTHING);
        assertThat(ls(path).lines().get(0)).isEqualTo(path + ": Curator's semaphore, 1 holds, 0 wait");
        assertThat(ls("-r", path).lines().get(2)).startsWith(path + "  Curator's semaphore ");
    }

    @Test
    void pathWithoutRights_endsWith77_andIsNamedInATree() throws Exception {
        ACL own = new ACL(ZooDefs.Perms.ALL, new Id("digest", "u:x"));
        server.createNode(path, NOTHING);
        client.zooKeeper()
                .orElseThrow()
                .create(path + "/secret", NOTHING, new ArrayList<>(List.of(own)), CreateMode.PERSISTENT);
        Ran ran = Ran.zklock("ls", "--connect", server.connectString(), path + "/secret");
        assertThat(ran.code()).isEqualTo(77);
        assertThat(ran.err())
                .startsWith("zklock: no right to read " + path + "/secret: give credentials that have it")
                .hasLineCount(1);
        assertThat(ran.out()).isEmpty();
        assertThat(ls("-r", path).out()).contains("note: no right to read " + path + "/secret: nothing is known of it");
    }

    @Test
    void unreadableNode_isShownWithoutItsOwner() throws Exception {
        ACL own = new ACL(ZooDefs.Perms.ALL, new Id("digest", "u:x"));
        server.createNode(path, NOTHING);
        client.zooKeeper()
                .orElseThrow()
                .create(path + "/lock-", NOTHING, new ArrayList<>(List.of(own)), CreateMode.EPHEMERAL_SEQUENTIAL);
        assertThat(ls(path).lines().get(2)).matches(" +0  holds  lock        -  -        unknown  lock-0000000000");
        assertThat(ls(path).out()).contains("note: 1 node may not be read with these rights");
        assertThat(ls("--json", path).out()).contains("\"readable\":false").doesNotContain("\"owner\"");
    }

    @Test
    void foreignText_isShownAsPlainLines() throws Exception {
        server.createNode(path, NOTHING);
        String evil = "zkrecipes 1\nowner=x\u001b[31m\r\u202egnp.exe\u2028forged\u009b\nrevoke=a 1 \u001b]0;t\u0007\n";
        server.createNode(path + "/lock-0000000001", evil.getBytes(StandardCharsets.UTF_8));
        server.createNode(
                path + "/a\u202e\u2028-lock-0000000001", "\u001b[2J\nforged".getBytes(StandardCharsets.UTF_8));
        for (String[] way : new String[][] {{path}, {"--json", path}, {"-r", path}, {"-r", "--json", path}}) {
            String out = ls(way).out();
            assertThat(out.lines().collect(Collectors.joining()).codePoints())
                    .as(out)
                    .allMatch(PlainText::isPlain);
        }
        String json = ls("--json", path).out();
        assertThat(json).hasLineCount(1).contains("x\\\\u001b[31m\\\\u000d\\\\u202egnp.exe\\\\u2028forged\\\\u009b");
        assertThat(ReadJson.read(json).at("/participants/0/owner").asText())
                .isEqualTo("x\\u001b[31m\\u000d\\u202egnp.exe\\u2028forged\\u009b");
    }

    @Test
    void json_isReadByOtherPrograms() throws Exception {
        InterProcessSemaphore semaphore = new InterProcessSemaphore(client, path, 2);
        Soon.get(queue(semaphore.permits(2)));
        queue(semaphore.permits(1));
        String session =
                "0x" + Long.toHexString(client.zooKeeper().orElseThrow().getSessionId());
        JsonNode lock = ReadJson.read(ls("--json", path).out());
        assertThat(fields(lock, "recipe", "holding", "waiting", "unknown", "exists", "notes"))
                .isEqualTo("[\"semaphore\",1,1,0,true,[]]");
        assertThat(lock.at("/limit/configured").asInt()).isEqualTo(2);
        assertThat(lock.at("/limit/current").asInt()).isEqualTo(2);
        JsonNode holder = lock.at("/participants/0");
        assertThat(fields(holder, "position", "state", "kind", "payload", "weight", "owner", "session"))
                .isEqualTo("[0,\"holds\",\"lease.\",\"2\",2,\"orders 7\",\"" + session + "\"]");
        JsonNode waiter = lock.at("/participants/1");
        assertThat(fields(waiter, "position", "state", "weight", "requests")).isEqualTo("[1,\"waits\",1,[]]");
        assertThat(waiter.get("ageMillis").asLong()).isNotNegative();
        JsonNode tree = ReadJson.read(ls("-r", "--json", path).out());
        assertThat(tree.get("root").asText()).isEqualTo(path);
        assertThat(tree.get("locks"))
                .singleElement()
                .satisfies(each -> assertThat(each.get("path").asText()).isEqualTo(path));
        assertThat(tree.get("notes")).isEmpty();
    }

    /** The values of these fields, as JSON. */
    private static String fields(JsonNode node, String... names) {
        return Stream.of(names).map(name -> node.required(name).toString()).collect(Collectors.joining(",", "[", "]"));
    }

    @Test
    void looking_changesNothingAndWatchesNothing() throws Exception {
        Soon.get(queue(new InterProcessMutex(client, path)));
        int watches = server.watchCount();
        List<String> children = server.children(path);
        ls(path);
        ls("-r", path);
        ls("--json", path + "/none");
        assertThat(server.watchCount()).isEqualTo(watches);
        assertThat(server.children(path)).isEqualTo(children);
        assertThat(server.sessions()).hasSize(1);
    }

    /** On a small stack, as a tree that fills a large one takes long to make. */
    @Test
    void deepTree_needsNoStack() throws Exception {
        int levels = 600;
        StringBuilder deepest = new StringBuilder(path);
        server.createNode(path, NOTHING);
        for (int i = 0; i < levels; i++) {
            server.createNode(deepest.append("/x").toString(), NOTHING);
        }
        Soon.get(new InterProcessMutex(client, deepest.toString()).acquireAsync());
        FutureTask<Tree> look = new FutureTask<>(() -> Tree.read(new Reads(client, false), path, true));
        new Thread(null, look, "looks", 200 << 10).start();
        assertThat(look.get().locks()).extracting(lock -> lock.view().path()).containsExactly(deepest.toString());
    }
}
