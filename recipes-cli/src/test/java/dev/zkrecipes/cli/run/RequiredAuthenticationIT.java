// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.Ran;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.internal.ChildJvms;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server that answers nothing to clients without an authentication. */
class RequiredAuthenticationIT {
    @TempDir
    private Path folder;

    @Test
    @Tag("H110")
    @Tag("H151")
    void missingAuthentication_endsWith77() throws IOException, InterruptedException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        try (ChildJvms processes = new ChildJvms()) {
            processes.start(StrictServer.class, String.valueOf(port));
            String servers = "127.0.0.1:" + port;
            Map<String, String> environment = Map.of("ZKLOCK_CONNECT", servers);
            assertRefused(PlayedLauncher.run(environment, "run", "-w", "90", "/strict", "true"));
            for (int i = 0; i < 5; i++) {
                assertRefused(PlayedLauncher.run(environment, "run", "-n", "/strict", "--", "true"));
            }
            assertRefused(Ran.zklock("ls", "--connect", servers, "/strict"));
        }
    }

    private static void assertRefused(Ran ran) {
        assertThat(ran.err()).contains("enforce.auth.enabled");
        assertThat(ran.code()).isEqualTo(77);
    }

    /** Argument: the port. The setting is one for all servers of a JVM. */
    static final class StrictServer {
        private StrictServer() {}

        public static void main(String[] args) throws IOException {
            System.setProperty("org.slf4j.simpleLogger.log.org.apache.zookeeper", "off");
            System.setProperty("zookeeper.enforce.auth.enabled", "true");
            System.setProperty("zookeeper.enforce.auth.schemes", "digest");
            EmbeddedZooKeeper.builder().port(Integer.parseInt(args[0])).start();
            while (System.in.read() >= 0) {
                // Nothing is written to it; it ends with the process that started it.
            }
            Runtime.getRuntime().halt(0);
        }
    }
}
