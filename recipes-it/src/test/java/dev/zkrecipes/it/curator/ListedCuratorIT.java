// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.curator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.operate.LsCommand;
import dev.zkrecipes.it.curator.Party.Hold;
import dev.zkrecipes.it.curator.Party.Kind;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.Soon;
import dev.zkrecipes.test.WithZooKeeper;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import picocli.CommandLine;

/** What {@code zklock ls} says of Curator's locks, alone and beside ours. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper
class ListedCuratorIT {
    private static int paths;

    private final EmbeddedZooKeeper server;
    private final List<Party> parties = new ArrayList<>();
    private String path = "";
    private CuratorFramework curator;

    ListedCuratorIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    @BeforeEach
    void open() {
        path = "/listed/" + paths++;
        curator = CuratorFrameworkFactory.newClient(server.connectString(), new RetryOneTime(100));
        curator.start();
    }

    @AfterEach
    void close() {
        parties.forEach(Party::close);
        curator.close();
    }

    private Party add(Party party) {
        parties.add(party);
        return party;
    }

    private List<String> ls() {
        StringWriter out = new StringWriter();
        int code = new CommandLine(new LsCommand())
                .setOut(new PrintWriter(out, true))
                .execute("--connect", server.connectString(), path);
        assertThat(code).isZero();
        return out.toString().lines().toList();
    }

    private void awaitNodes(String folder, int count) {
        Soon.await()
                .until(() ->
                        server.nodeExists(folder) && server.children(folder).size() == count);
    }

    @Test
    void mutexOfBothLibraries_isOneQueue() throws Exception {
        Soon.get(add(Party.theirs(server, path, Kind.MUTEX)).acquire());
        CompletableFuture<Hold> waiting =
                add(Party.ours(server, path, Kind.MUTEX)).acquire();
        awaitNodes(path, 2);
        List<String> lines = ls();
        assertThat(lines.get(0)).isEqualTo(path + ": mutex, 1 holds, 1 waits");
        String session = "0x" + Long.toHexString(parties.get(0).session());
        assertThat(lines.get(2)).contains("holds", session, "_c_", "-lock-0000000000");
        assertThat(lines.get(3))
                .contains("waits", "0x" + Long.toHexString(parties.get(1).session()));
        assertThat(waiting).isNotDone();
    }

    @Test
    void readWriteLockOfBothLibraries_isOneQueue() throws Exception {
        Soon.get(add(Party.theirs(server, path, Kind.READ)).acquire());
        Soon.get(add(Party.ours(server, path, Kind.READ)).acquire());
        CompletableFuture<Hold> waiting =
                add(Party.theirs(server, path, Kind.WRITE)).acquire();
        awaitNodes(path, 3);
        assertThat(ls().get(0)).isEqualTo(path + ": read-write lock, 2 hold, 1 waits");
        assertThat(ls().get(2)).contains("__READ__");
        assertThat(ls().get(4)).contains("waits", "__WRIT__");
        assertThat(waiting).isNotDone();
    }

    @Test
    void semaphore_showsLeases_theNextInLine_andTheQueue() throws Exception {
        InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(curator, path, 2);
        semaphore.setNodeData("crawler".getBytes(StandardCharsets.UTF_8));
        semaphore.acquire(2);
        Soon.await().until(() -> server.children(path + "/locks").isEmpty());
        assertThat(ls().get(0)).isEqualTo(path + ": Curator's semaphore, 2 hold, 0 wait");
        assertThat(ls().get(2)).contains("holds  lease-", "crawler  leases/_c_");
        Thread third = waiter(semaphore);
        awaitNodes(path + "/leases", 3);
        awaitNodes(path + "/locks", 1);
        Thread fourth = waiter(semaphore);
        awaitNodes(path + "/locks", 2);
        List<String> lines = ls();
        assertThat(lines.get(0)).isEqualTo(path + ": Curator's semaphore, 2 hold, 1 waits, 1 of unknown state");
        assertThat(lines.get(4)).matches(" +2  \\? .*leases/_c_.*");
        assertThat(lines.get(5)).matches(" +3  waits .*locks/_c_.*");
        for (Thread waiter : List.of(fourth, third)) {
            assertThat(waiter.isAlive()).isTrue();
            waiter.interrupt();
            waiter.join(20_000);
        }
    }

    private static Thread waiter(InterProcessSemaphoreV2 semaphore) {
        Thread thread = new Thread(() -> {
            try {
                semaphore.acquire();
            } catch (Exception e) {
                // It was interrupted.
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    @Test
    void semaphoreMutex_isASemaphore() throws Exception {
        InterProcessSemaphoreMutex mutex = new InterProcessSemaphoreMutex(curator, path);
        assertThat(mutex.acquire(20, TimeUnit.SECONDS)).isTrue();
        Soon.await().until(() -> server.children(path + "/locks").isEmpty());
        assertThat(ls().get(0)).isEqualTo(path + ": Curator's semaphore, 1 holds, 0 wait");
        mutex.release();
    }
}
