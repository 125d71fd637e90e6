// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.test.EnsembleServer;
import dev.zkrecipes.test.ZooKeeperEnsemble;
import dev.zkrecipes.test.internal.ChildJvms;
import dev.zkrecipes.test.internal.Soon;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two applications lead in turn, run a job and call annotated methods, while one of them is restarted again and again by
 * SIGTERM, and three servers are killed and restarted in turn. Nothing is done twice at once, each application ends what
 * it does before the other one begins, and no increment is lost.
 *
 * <p>{@code -Dspring.seconds=600} runs for longer.
 */
@Tag("soak")
@Timeout(1200)
class TwoApplicationsIT {
    private static final Duration RESTART_EVERY = Duration.ofSeconds(20);
    /** Longer than a session time-out: each new leader begins those of all sessions anew, also of dead processes. */
    private static final Duration SERVERS_STAY = Duration.ofSeconds(20);

    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final List<String> COUNTED = List.of("term", "job", "call-0", "call-1");

    private final long end = System.nanoTime()
            + Duration.ofSeconds(Integer.getInteger("spring.seconds", 60)).toNanos();
    private final ChildJvms processes = new ChildJvms();

    @TempDir
    private Path folder;

    @Test
    void nothingIsDoneTwiceAtOnce_andNoIncrementIsLost_whileApplicationsAndServersRestart() throws Exception {
        Files.createFile(folder.resolve("diary"));
        int restarts = 0;
        try (processes;
                ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start()) {
            Process stays = start(ensemble);
            Process restarted = start(ensemble);
            CompletableFuture<Integer> servers = CompletableFuture.supplyAsync(() -> restartServers(ensemble));
            while (System.nanoTime() < end) {
                awaitCountsOf(restarted, stays);
                TimeUnit.NANOSECONDS.sleep(RESTART_EVERY.toNanos()); // both work undisturbed in between
                stop(restarted);
                restarted = start(ensemble);
                restarts++;
            }
            awaitCountsOf(restarted, stays);
            System.out.printf("%d restarts of the application, %d of servers%n", restarts, servers.get());
            stop(stays);
            stop(restarted);
        }
        List<String[]> diary = diary();
        summary(diary).forEach((line, times) -> System.out.println(line + ": " + times));
        assertThat(overlaps(diary)).isEmpty();
        for (String what : COUNTED) {
            assertThat(Files.readString(folder.resolve(what)))
                    .as(what)
                    .isEqualTo(String.valueOf(diary.stream()
                            .filter(line -> line[0].equals("counts") && line[1].equals(what))
                            .count()));
        }
    }

    private Process start(ZooKeeperEnsemble ensemble) {
        return processes.start(
                List.of("-Xmx128m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error"),
                CountingApplication.class,
                ensemble.connectString(),
                folder.toString());
    }

    private void stop(Process application) throws IOException, InterruptedException {
        write("stops any", application);
        application.destroy();
        assertThat(application.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS))
                .as("ends on SIGTERM")
                .isTrue();
    }

    private void write(String what, Process of) throws IOException {
        Files.writeString(folder.resolve("diary"), what + " " + of.pid() + "\n", StandardOpenOption.APPEND);
    }

    private int restartServers(ZooKeeperEnsemble ensemble) {
        int restarts = 0;
        while (System.nanoTime() < end) {
            EnsembleServer server =
                    ensemble.servers().get(restarts % ensemble.servers().size());
            server.kill();
            server.restart();
            ensemble.awaitComplete();
            restarts++;
            new CompletableFuture<>()
                    .completeOnTimeout(null, SERVERS_STAY.toSeconds(), TimeUnit.SECONDS)
                    .join();
        }
        return restarts;
    }

    /** Each of them works again, in all ways. */
    private void awaitCountsOf(Process... applications) throws IOException {
        int from = diary().size();
        List<String> counts = Stream.of(applications)
                .flatMap(application -> COUNTED.stream().map(what -> "counts " + what + " " + application.pid()))
                .toList();
        Soon.await()
                .pollInterval(Duration.ofMillis(100))
                .atMost(LIMIT)
                .failFast(
                        "an application has ended",
                        () -> !Stream.of(applications).allMatch(Process::isAlive))
                .untilAsserted(() -> assertThat(diary().stream().skip(from).map(line -> String.join(" ", line)))
                        .containsAll(counts));
    }

    private List<String[]> diary() throws IOException {
        return Files.readAllLines(folder.resolve("diary")).stream()
                .map(line -> line.split(" ", -1))
                .toList();
    }

    /** What began before the last of its kind had ended, or has never ended. A line is written within the lock. */
    private static List<String> overlaps(List<String[]> diary) {
        List<String> overlaps = new ArrayList<>();
        Map<String, String> running = new HashMap<>();
        for (String[] line : diary) {
            String text = String.join(" ", line);
            if (line[0].equals("begins")) {
                String before = running.put(line[1], line[2]);
                if (before != null) {
                    overlaps.add(text + " beside " + before);
                }
            } else if (line[0].equals("ends") && !line[2].equals(running.remove(line[1]))) {
                overlaps.add(text + ", which is not what runs");
            }
        }
        running.forEach((what, process) -> overlaps.add(what + " of " + process + " has not ended"));
        return overlaps;
    }

    /** How often each line was written: apart by whether its application was being stopped. */
    private static Map<String, Long> summary(List<String[]> diary) {
        Set<String> stopping = new HashSet<>();
        Map<String, Long> lines = new TreeMap<>();
        for (String[] line : diary) {
            if (line[0].equals("stops")) {
                stopping.add(line[2]);
            }
            String when = stopping.contains(line[2]) ? ", being stopped" : "";
            lines.merge(line[0] + " " + line[1] + when, 1L, Long::sum);
        }
        return lines;
    }
}
