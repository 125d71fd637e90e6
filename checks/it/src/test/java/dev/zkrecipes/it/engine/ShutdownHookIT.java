// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.leader.LeaderElection;
import dev.zkrecipes.leader.LeaderListener;
import dev.zkrecipes.leader.Term;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.ChildJvms;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a process releases when SIGTERM ends it. */
class ShutdownHookIT extends ServerStage {
    private List<String> held() {
        return HoldingProcess.PLACES.stream()
                .filter(name -> server.children(path + name).size() == 1)
                .collect(Collectors.toList());
    }

    @Test
    void clientsWithAHook_releaseEverythingBeforeTheProcessEnds_othersLeaveItToTheSession() throws Exception {
        ChildJvms processes = opened(new ChildJvms());
        Process process = processes.start(HoldingProcess.class, server.connectString(), path);
        Soon.await().atMost(Duration.ofSeconds(120)).until(() -> held().equals(HoldingProcess.PLACES));
        process.destroy();
        assertThat(process.waitFor(120, TimeUnit.SECONDS)).as("ended").isTrue();
        assertThat(held()).containsExactly("/none-a", "/none-b");
    }

    @Test
    @Tag("H153")
    void shutdownHook_letsALeaderStop_beforeTheNextOneBegins(@TempDir Path folder) throws Exception {
        ChildJvms processes = opened(new ChildJvms());
        ZooKeeperClient client = client();
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
        awaitNodes(2);
        process.destroy();
        Soon.await().until(() -> Files.exists(folder.resolve("stopping")));
        for (int i = 0; i < 20; i++) {
            assertThat(next.participants()).hasSize(2);
        }
        assertThat(process.isAlive()).isTrue();
        Files.createFile(folder.resolve("stop"));
        assertThat(Soon.get(hasStopped)).isTrue();
        assertThat(process.waitFor(120, TimeUnit.SECONDS)).as("ended").isTrue();
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
        ZooKeeperClient client = TestClients.connect(settings().closeOnShutdown());
        client.close();
        return client;
    }
}
