// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.ClientProperties;
import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.SecurePort;
import dev.zkrecipes.test.TlsKeys;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

/** {@code zklock run} and {@code ls} over TLS, by a file of client properties. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@ResourceLock("the secure port")
class RunTlsIT {
    /** A handshake of a cold process takes long on a machine with much else to do. */
    private static final String WAIT = "--wait=240";

    @TempDir
    private Path folder;

    @Test
    void commandRunsUnderALock_overTls() throws IOException, InterruptedException {
        TlsKeys serverKeys = TlsKeys.make(folder, "server");
        TlsKeys clientKeys = TlsKeys.make(folder, "client");
        serverKeys.trust(clientKeys);
        clientKeys.trust(serverKeys);
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                SecurePort port = server.openSecurePort(serverKeys)) {
            String file = ClientProperties.of(clientKeys, port.connectString(), folder);
            String inner = String.join(" ", RunningZkLock.commandLine("ls", "/tls"));
            try (RunningZkLock zklock = RunningZkLock.start(
                    folder, Map.of("ZKLOCK_CONFIG", file), "run", WAIT, "/tls", "sh", "-c", inner)) {
                assertThat(zklock.awaitExit()).as(zklock.err()).isZero();
                assertThat(zklock.out()).startsWith("/tls: mutex, 1 holds");
            }
        }
    }
}
