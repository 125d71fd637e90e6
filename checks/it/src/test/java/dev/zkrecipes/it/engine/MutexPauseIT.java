// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.ChildJvms;
import dev.zkrecipes.test.internal.FrozenJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.Op;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A holder whose process is stopped for longer than its session lasts. */
@Timeout(600)
@WithZooKeeper(tickTimeMillis = 200)
class MutexPauseIT {
    private static final String PATH = "/pause/lock";
    private static final String TARGET = "/target";

    private final EmbeddedZooKeeper server;
    private final Path diary;

    MutexPauseIT(EmbeddedZooKeeper server, @TempDir Path folder) {
        this.server = server;
        this.diary = folder.resolve("diary");
    }

    @Test
    @Tag("H07")
    @Tag("H08")
    void stoppedProcess_noticesTheLoss_andItsLateWriteIsRefused() throws Exception {
        server.createNode(TARGET, new byte[0]);
        try (ChildJvms processes = new ChildJvms();
                ZooKeeperClient client = ZooKeeperClient.connect(server.connectString())) {
            Process holder =
                    processes.start(PausedHolder.class, server.connectString(), PATH, TARGET, diary.toString());
            await().atMost(Duration.ofSeconds(120)).until(() -> !read("token").isEmpty());
            Lease rival;
            try (FrozenJvm frozen = FrozenJvm.freeze(holder)) {
                assertThat(frozen).isNotNull();
                long frozenAt = System.nanoTime();
                rival = new InterProcessMutex(client, PATH).acquireAsync().get(120, TimeUnit.SECONDS);
                client.zooKeeper().orElseThrow().multi(List.of(rival.guard(), Op.setData(TARGET, new byte[] {3}, -1)));
                // The rival may come before the holder's own clock has run down: let that be past, too.
                long past = frozenAt + PausedHolder.SESSION.plusMillis(500).toNanos();
                await().until(() -> System.nanoTime() - past > 0);
                assertThat(read("valid")).isEmpty();
            }
            processes.join(Duration.ofSeconds(120));

            assertThat(read("valid")).isEqualTo("false");
            assertThat(read("token-again")).isEqualTo("lost");
            assertThat(read("guard-again")).isEqualTo("lost");
            assertThat(read("guarded-write")).isEqualTo("NONODE");
            assertThat(read("unguarded-write")).as("the session of the store").isEqualTo("done");
            assertThat(server.data(TARGET).orElseThrow()).containsExactly(3);
            assertThat(rival.fencingToken()).isGreaterThan(Long.parseLong(read("token")));
            rival.verify();
            rival.close();
        }
    }

    /** What the diary says of something; empty if nothing yet. */
    private String read(String what) throws IOException {
        if (!Files.exists(diary)) {
            return "";
        }
        return Files.readAllLines(diary).stream()
                .filter(line -> line.startsWith(what + "="))
                .map(line -> line.substring(what.length() + 1))
                .findFirst()
                .orElse("");
    }
}
