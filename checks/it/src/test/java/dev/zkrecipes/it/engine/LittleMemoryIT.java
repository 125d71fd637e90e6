// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The memory of a process that takes locks ends for moments, and comes back. */
@Tag("H119")
@Tag("soak")
@Timeout(600)
@WithZooKeeper(tickTimeMillis = 200)
class LittleMemoryIT {
    @Test
    void processWithoutMemory_worksOrEndsItsClient_andKeepsNoLock(EmbeddedZooKeeper server, @TempDir Path folder)
            throws Exception {
        Path output = folder.resolve("output");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        LittleMemoryProcess.class.getName(),
                        server.connectString(),
                        "4000")
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(200, TimeUnit.SECONDS)).as("ended").isTrue();
        } finally {
            process.destroyForcibly();
        }
        String said = Files.readString(output);

        assertThat(process.exitValue()).as(said).isZero();
        assertThat(said).containsAnyOf("WORKS", "The lock client has ended itself because of an error in it");
        try (ZooKeeperClient other = TestClients.connect(server.connectString(), Duration.ofSeconds(3))) {
            for (String path : List.of("/little/held", "/little/0", "/little/1", "/little/again")) {
                other.awaitConnected(Duration.ofSeconds(10));
                assertThat(new InterProcessMutex(other, path).tryAcquire(Duration.ofSeconds(30)))
                        .as(path)
                        .isPresent();
            }
        }
    }
}
