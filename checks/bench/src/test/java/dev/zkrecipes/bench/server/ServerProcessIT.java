// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(600)
class ServerProcessIT {

    /** ZooKeeper prints the name of each file that it removes. */
    @Test
    void serverThatRemovesOldSnapshots_answersTheNextQuestion() throws IOException {
        try (ServerProcess server = ServerProcess.start(Store.MEMORY)) {
            Path snapshots = server.directory().resolve("version-2");
            Path first = snapshots.resolve("snapshot.0");
            for (int zxid = 1; zxid <= 4; zxid++) {
                Files.copy(first, snapshots.resolve("snapshot." + zxid));
            }
            server.tidy();
            assertThat(first).doesNotExist();
            assertThat(server.counts().events()).isZero();
            assertThat(server.children("/")).isEqualTo(1);
        }
    }
}
