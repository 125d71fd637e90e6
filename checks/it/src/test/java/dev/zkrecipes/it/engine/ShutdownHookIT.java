// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.leader.LeaderElection;
import dev.zkrecipes.leader.LeaderListener;
import dev.zkrecipes.leader.Term;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.ChildJvms;
import dev.zkrecipes.test.internal.Soon;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a process releases when SIGTERM ends it. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper
class ShutdownHookIT {
    private final EmbeddedZooKeeper server;
    private final String path;

    ShutdownHookIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.path = "/shutdown/" + Integer.toHexString(test.getDisplayName().hashCode());
    }

    private boolean isHeld(String name) {
        return server.children(path + name).size() == 1;
    }

    private void holdAndTerminate(String handle, String hook) throws InterruptedException {
        try (ChildJvms processes = new ChildJvms()) {
            Process process = processes.start(HoldingProcess.class, server.connectString(), path, handle, hook);
            Soon.await().atMost(Duration.ofSeconds(120)).until(() -> isHeld("/a") && isHeld("/b"));
            process.destroy();
            assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"own", "wrapped"})
    void shutdownHook_releasesEverythingBeforeTheProcessEnds(String handle) throws Exception {
        holdAndTerminate(handle, "hook");
        assertThat(server.children(path + "/a")).isEmpty();
        assertThat(server.children(path + "/b")).isEmpty();
    }

    @Test
    void clientWithoutAHook_leavesNodesToTheSession() throws Exception {
        holdAndTerminate("own", "none");
        assertThat(isHeld("/a")).isTrue();
        assertThat(isHeld("/b")).isTrue();
    }

    @Test
    @Tag("H153")
    void shutdownHook_letsALeaderStop_beforeTheNextOneBegins(@TempDir Path folder) throws Exception {
        try (ChildJvms processes = new ChildJvms();
                ZooKeeperClient client = TestClients.connect(server.connectString())) {
            Process process = processes.start(LeadingProcess.class, server.connectString(), path, folder.toString());
            Soon.await().atMost(Duration.ofSeconds(120)).until(() -> Files.exists(folder.resolve("leading")));
            LeaderElection next = new LeaderElection(client, path);
            CompletableFuture<Boolean> hasStopped = new CompletableFuture<>();
            next.addListener(new LeaderListener() {
                @Override
                public void termBegan(Term term) {
                    hasStopped.complete(Files.exists(folder.resolve("stopped")));
                }

                @Override
                public void termEnded(Term term) {}
            });
            next.join();
            Soon.await().until(() -> server.children(path).size() == 2);
            process.destroy();
            Soon.await().until(() -> Files.exists(folder.resolve("stopping")));
            for (int i = 0; i < 20; i++) {
                assertThat(next.participants()).hasSize(2);
            }
            assertThat(process.isAlive()).isTrue();
            Files.createFile(folder.resolve("stop"));
            assertThat(Soon.get(hasStopped)).isTrue();
            assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    @Tag("alone")
    void closedClient_leavesNoHook() throws Exception {
        WeakReference<ZooKeeperClient> closed = new WeakReference<>(closedClient());
        Soon.await().until(() -> {
            System.gc();
            return closed.get() == null;
        });
    }

    private ZooKeeperClient closedClient() throws InterruptedException {
        ZooKeeperClient client = TestClients.connect(
                ZooKeeperClient.builder().connectString(server.connectString()).closeOnShutdown());
        client.close();
        return client;
    }
}
