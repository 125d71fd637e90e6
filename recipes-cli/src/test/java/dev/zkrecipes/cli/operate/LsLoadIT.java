// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.Ran;
import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A path with ten thousand nodes: in one session, with a read for each, and never a thousand open at a time. */
@Tag("soak")
@Timeout(600)
class LsLoadIT {
    private static final String OUR_ID = "0123456789abcdef0123456789abcdef";
    private static final int NODES = 10_000;

    @Test
    void tenThousandNodes_areListed() {
        byte[] data = "zkrecipes 1\nowner=somebody\n".getBytes(StandardCharsets.UTF_8);
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            server.createNode("/x", new byte[0]);
            for (int i = 0; i < NODES; i++) {
                server.createNode(String.format("/x/%s-lock-%010d", OUR_ID, i), data);
            }
            RequestCounts before = server.requests();
            Ran ran = Ran.zklock("ls", "--connect", server.connectString(), "/x");
            RequestCounts asked = server.requests().minus(before);
            assertThat(ran.code()).as(ran.err()).isZero();
            assertThat(ran.lines()).hasSize(NODES + 3);
            assertThat(ran.lines().get(0)).isEqualTo("/x: mutex, 1 holds, 9999 wait");
            assertThat(ran.lines().get(NODES + 1))
                    .startsWith(" 9999  waits  lock  ")
                    .contains("somebody");
            assertThat(asked.of(RequestType.GET_DATA)).isEqualTo(NODES + 1);
            assertThat(asked.of(RequestType.CREATE_SESSION)).isEqualTo(1);
        }
    }

    /** The list is far longer than what a pipe holds, so the writer is there when its reader goes. */
    @ParameterizedTest
    @ValueSource(strings = {"head -n 1", "less | head -n 1", "sed 1q"})
    void earlyEndOfTheReader_endsLsQuietly(String reader, @TempDir Path folder)
            throws IOException, InterruptedException {
        byte[] data = "zkrecipes 1\nowner=somebody\n".getBytes(StandardCharsets.UTF_8);
        Path err = folder.resolve("err");
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            server.createNode("/x", new byte[0]);
            for (int i = 0; i < NODES; i++) {
                server.createNode(String.format("/x/%s-lock-%010d", OUR_ID, i), data);
            }
            String ls = String.join(" ", RunningZkLock.java()) + " ls --connect " + server.connectString() + " /x";
            Process shell = new ProcessBuilder("sh", "-c", "{ " + ls + "; echo \"ended $?\" >&2; } | " + reader)
                    .redirectError(err.toFile())
                    .start();
            assertThat(new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
                    .isEqualTo("/x: mutex, 1 holds, 9999 wait\n");
            assertThat(shell.waitFor()).isZero();
            await().atMost(Duration.ofSeconds(120))
                    .until(() -> Files.readString(err).endsWith("\n"));
            assertThat(Files.readString(err)).isEqualTo("ended 0\n");
        }
    }

    @Test
    void listLongerThanAPacket_isExplained() {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            server.createNode("/x", new byte[0]);
            for (int i = 0; i < 2 * NODES + 1_000; i++) {
                server.createNode(String.format("/x/%s-lock-%010d", OUR_ID, i), new byte[0]);
            }
            Ran ran = Ran.zklock("ls", "--connect", server.connectString(), "/x");
            assertThat(ran.code()).isEqualTo(69);
            assertThat(ran.err())
                    .startsWith("zklock: the connection was lost 4 times while reading /x")
                    .contains("ZKLOCK_JAVA_OPTIONS=-Djute.maxbuffer=BYTES");
        }
    }
}
