// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.server;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.Ran;
import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.TestClients;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code zklock server} from the jar. */
@Timeout(600)
class ServerIT {
    @TempDir
    private Path folder;

    private RunningZkLock start(String... options) throws IOException, InterruptedException {
        return RunningZkLock.jar(
                folder,
                "-Djava.io.tmpdir=" + Files.createDirectories(folder.resolve("tmp")),
                Stream.concat(Stream.of("server"), Stream.of(options)).toArray(String[]::new));
    }

    private static String connectString(RunningZkLock server) throws IOException {
        server.awaitLine("127.0.0.1:");
        return server.lines().get(0);
    }

    private static void makeSemaphore(String connectString, int limit) throws InterruptedException {
        try (ZooKeeperClient client = TestClients.connect(connectString)) {
            new InterProcessSemaphore(client, "/imports", limit).acquire().close();
        }
    }

    @Test
    void server_printsItsConnectString_keepsItsData_andEndsWithASignal() throws Exception {
        String data = folder.resolve("data").toString();
        String first;
        try (RunningZkLock server = start("--port", "0", "--data", data)) {
            first = connectString(server);
            assertThat(first).matches("127\\.0\\.0\\.1:\\d+");
            makeSemaphore(first, 3);
            assertSecondOneIsRefused(
                    "--port", first.substring(first.indexOf(':') + 1), " is in use: give another --port");
            assertSecondOneIsRefused("--data", data, "another server has the data folder " + data);
            server.signal("TERM");
            assertThat(server.awaitExit()).isEqualTo(143);
            assertThat(server.lines()).containsExactly(first);
            assertThat(server.complaints()).isEmpty();
        }
        String port = first.substring(first.indexOf(':') + 1);
        try (RunningZkLock server = start("--port", port, "--data", data)) {
            assertThat(connectString(server)).isEqualTo(first);
            makeSemaphore(first, 3); // refused with any other limit
        }
    }

    private void assertSecondOneIsRefused(String option, String value, String complaint) throws Exception {
        String port = option.equals("--port") ? value : "0";
        String[] line = option.equals("--port")
                ? new String[] {"--port", port}
                : new String[] {"--port", port, "--data", value};
        Ran second =
                Ran.zklock(Stream.concat(Stream.of("server"), Stream.of(line)).toArray(String[]::new));
        assertThat(second.code()).isEqualTo(1);
        assertThat(second.err().lines())
                .singleElement()
                .asString()
                .startsWith("zklock: ")
                .contains(complaint);
        assertThat(second.out()).isEmpty();
    }

    @Test
    void temporaryData_areRemoved() throws Exception {
        Path temporary = folder.resolve("tmp");
        try (RunningZkLock server = start("--port", "0")) {
            connectString(server);
            assertThat(temporary).isNotEmptyDirectory();
            server.signal("INT");
            assertThat(server.awaitExit()).isEqualTo(130);
        }
        await().atMost(Duration.ofSeconds(120))
                .untilAsserted(() -> assertThat(temporary).isEmptyDirectory());
    }
}
