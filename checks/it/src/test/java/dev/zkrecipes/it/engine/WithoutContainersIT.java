// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.Held;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Servers that cut the connection when they are asked for a container, as some do that only speak ZooKeeper's protocol. */
@Tag("H114")
class WithoutContainersIT extends ServerStage {
    private static final int CUTS = 12;

    private ZooKeeperClientBuilder builder(FaultProxy proxy) {
        for (int i = 1; i <= CUTS; i++) {
            proxy.dropRequest(RequestType.CREATE_CONTAINER, i);
        }
        return ZooKeeperClient.builder()
                .connectString(proxy.connectString())
                .sessionTimeout(Duration.ofSeconds(60))
                .requestTimeout(Duration.ofSeconds(30));
    }

    @Test
    @Tag("alone")
    void persistentNodesTakeTheirPlace_asTheLogSays() throws Exception {
        PrintStream terminal = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try (FaultProxy proxy = proxy();
                ZooKeeperClient client = builder(proxy).build()) {
            InterProcessLock both = new InterProcessMultiLock(
                    List.of(new InterProcessMutex(client, "/cut/a/b"), new InterProcessMutex(client, "/cut/c")));
            both.acquire().close();
            new InterProcessMutex(client, "/cut/d").acquire().close();
        } finally {
            System.setErr(terminal);
        }
        server.reapContainers();
        assertThat(server.children("/cut/a")).containsExactly("b");
        assertThat(server.nodeExists("/cut/c")).isTrue();
        assertThat(server.nodeExists("/cut/d")).isTrue();
        assertThat(printed.toString(StandardCharsets.UTF_8))
                .containsOnlyOnce("WARN dev.zkrecipes.core.internal.handle.Containers")
                .contains("nobody removes")
                .contains("persistentPaths()");
    }

    @Test
    void persistentPaths_areMadeFromTheStart() throws Exception {
        try (FaultProxy proxy = proxy();
                ZooKeeperClient client = builder(proxy).persistentPaths().build()) {
            new InterProcessMutex(client, "/start/a").acquire().close();
            assertThat(proxy.requestsSeen().of(RequestType.CREATE_SESSION)).isEqualTo(1);
            assertThat(proxy.requestsSeen().of(RequestType.RESUME_SESSION)).isZero();
        }
        server.reapContainers();
        assertThat(server.nodeExists("/start/a")).isTrue();
    }

    /** Of what it has made itself it deletes the one that never had a child, as it does with a container. */
    @Test
    void acquireThatIsAbandonedMeanwhile_deletesThePathThatItMade() throws Exception {
        try (FaultProxy proxy = proxy();
                ZooKeeperClient client = builder(proxy).persistentPaths().build()) {
            assertThat(client.awaitConnected(Duration.ofSeconds(120))).isTrue();
            Held reply = proxy.holdReply(RequestType.MULTI, 1);
            CompletableFuture<Lease> wanted = new InterProcessMutex(client, "/abandoned").acquireAsync();
            Soon.await().until(reply::isReached);
            wanted.cancel(false);
            assertThat(server.nodeExists("/abandoned")).isTrue();
            reply.release();
            Soon.await().until(() -> !server.nodeExists("/abandoned"));
        }
    }
}
