// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.shedlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.shedlock.ScheduledProcess.Line;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.ChildJvms;
import dev.zkrecipes.test.internal.Soon;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** One job on Spring's schedule, in two JVMs, of which one is killed in the middle of it. */
@Timeout(600)
@WithZooKeeper
class TwoProcessesIT {

    @Test
    void eachRun_isOneProcess_andTheOtherGoesOnAfterAKill(EmbeddedZooKeeper server, @TempDir Path folder)
            throws IOException, InterruptedException {
        Path diary = Files.createFile(folder.resolve("diary"));
        try (ChildJvms processes = new ChildJvms()) {
            List<Process> both = List.of(
                    processes.start(ScheduledProcess.class, server.connectString(), diary.toString()),
                    processes.start(ScheduledProcess.class, server.connectString(), diary.toString()));
            await().until(() -> count("runs", lines(diary)) == 2);
            int before = lines(diary).size();
            await().until(() -> count("begins", from(before, diary)) >= 4
                    && last(diary).what().equals("begins"));
            Line killed = last(diary);
            for (Process process : both) {
                if (process.pid() == killed.process()) {
                    process.destroyForcibly().waitFor();
                }
            }
            expireSessionOf(killed.process(), server);
            await().until(() -> from(before, diary).stream()
                            .filter(line -> line.process() != killed.process() && line.at() > killed.at())
                            .count()
                    >= 6);
        }
        assertOneAtATime(lines(diary).stream()
                .filter(line -> !line.what().equals("runs"))
                .toList());
    }

    /** As the server does in a while. A short time-out would end the session of a process that stands still, too. */
    private static void expireSessionOf(long process, EmbeddedZooKeeper server) throws InterruptedException {
        try (ZooKeeperClient client = TestClients.connect(server.connectString())) {
            new LockInternals(client, "/jobs/report", new MutexDriver(), LockOptions.defaults())
                    .unowned().participants().stream()
                            .filter(each -> each.owner().equals(String.valueOf(process)))
                            .forEach(each -> assertThat(server.expireSession(each.sessionId()))
                                    .isTrue());
        }
    }

    /** A JVM may take long to start on a busy machine. */
    private static ConditionFactory await() {
        return Soon.await().pollInterval(Duration.ofMillis(20)).atMost(Duration.ofSeconds(120));
    }

    /** Whoever is killed writes no end, and keeps nothing. */
    private static void assertOneAtATime(List<Line> lines) {
        for (int i = 1; i < lines.size(); i++) {
            Line last = lines.get(i - 1);
            Line next = lines.get(i);
            if (next.what().equals("ends")) {
                assertThat(last.what()).as("%s, then %s", last, next).isEqualTo("begins");
                assertThat(last.process()).as("%s, then %s", last, next).isEqualTo(next.process());
            } else if (last.what().equals("ends")) {
                assertThat(next.at() - last.askedAt())
                        .as("%s, then %s", last, next)
                        .isGreaterThanOrEqualTo(ScheduledProcess.LEAST.toNanos());
            }
        }
        assertThat(lines.stream().filter(line -> line.what().equals("begins")).count()
                        - lines.stream()
                                .filter(line -> line.what().equals("ends"))
                                .count())
                .isBetween(0L, 2L);
    }

    private static long count(String what, List<Line> lines) {
        return lines.stream().filter(line -> line.what().equals(what)).count();
    }

    private static List<Line> from(int first, Path diary) {
        List<Line> lines = lines(diary);
        return lines.subList(first, lines.size());
    }

    private static Line last(Path diary) {
        List<Line> lines = lines(diary);
        return lines.get(lines.size() - 1);
    }

    private static List<Line> lines(Path diary) {
        try {
            return Files.readAllLines(diary).stream().map(Line::parse).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
