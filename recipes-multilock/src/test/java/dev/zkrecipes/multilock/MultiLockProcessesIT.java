// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.multilock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.ChildJvms;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Processes that ask for several paths at once, in whatever order: none deadlocks, and each path has one holder. */
@Tag("soak")
@Timeout(600)
@WithZooKeeper
class MultiLockProcessesIT {
    private static final List<String> PATHS =
            IntStream.range(0, 8).mapToObj(i -> "/accounts/" + i).toList();

    private final long seed = System.nanoTime();
    private final EmbeddedZooKeeper server;
    private final Path counters;

    MultiLockProcessesIT(EmbeddedZooKeeper server, @TempDir Path counters) {
        this.server = server;
        this.counters = counters;
    }

    @BeforeEach
    void zero() throws IOException {
        System.out.println("seed " + seed);
        for (int i = 0; i < PATHS.size(); i++) {
            Files.writeString(counter(i), "0");
        }
    }

    private Path counter(int i) {
        return counters.resolve(String.valueOf(i));
    }

    private void start(ChildJvms processes, int rounds, int together, long childSeed, List<String> paths) {
        List<String> arguments = new ArrayList<>(List.of(
                server.connectString(),
                counters.toString(),
                String.valueOf(rounds),
                String.valueOf(together),
                String.valueOf(childSeed)));
        arguments.addAll(paths);
        processes.start(Contender.class, arguments.toArray(String[]::new));
    }

    private long counted(int i) throws IOException {
        return Long.parseLong(Files.readString(counter(i)));
    }

    @Test
    @Tag("H32")
    void oppositeOrders_neverDeadlock() throws Exception {
        try (ChildJvms processes = new ChildJvms()) {
            start(processes, 1000, 2, seed, List.of(PATHS.get(0), PATHS.get(1)));
            start(processes, 1000, 2, seed, List.of(PATHS.get(1), PATHS.get(0)));
            processes.join(Duration.ofMinutes(2));
        }
        assertThat(counted(0)).isEqualTo(2000);
        assertThat(counted(1)).isEqualTo(2000);
    }

    @Test
    @Tag("H32")
    void randomSubsetsByEightProcesses_neverDeadlockAndNeverShareAPath() throws Exception {
        int rounds = 100;
        try (ChildJvms processes = new ChildJvms()) {
            for (int i = 0; i < 8; i++) {
                start(processes, rounds, 3, seed + i, PATHS);
            }
            processes.join(Duration.ofSeconds(150));
        }
        long sum = 0;
        for (int i = 0; i < PATHS.size(); i++) {
            sum += counted(i);
        }
        assertThat(sum).isEqualTo(8L * rounds * 3);
    }
}
