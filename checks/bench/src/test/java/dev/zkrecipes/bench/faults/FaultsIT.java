// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.faults.FaultVerdict.Evidence;
import dev.zkrecipes.bench.faults.Tenure.Outcome;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two clients of each contender in this JVM, one server, and no fault: from the lock to the report. */
@Timeout(600)
class FaultsIT {
    /** Long, for a lease that is granted after a pause of more than a twelfth of it may be SUSPENDED at first. */
    private static final Duration SESSION = Duration.ofSeconds(60);

    @TempDir
    private Path folder;

    @Test
    void runWithoutFaults_breaksNoPromise_andIsReported() throws Exception {
        List<Contender> contenders = List.of(Contender.values());
        Referee.Notebook referee = new Referee.Notebook();
        List<FaultClient> clients = new ArrayList<>();
        long begun = System.nanoTime();
        long clocks = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()) - begun;
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.builder()
                .dataDirectory(folder.resolve("data"))
                .start()) {
            Arena.makeNodes(server.connectString(), contenders);
            for (String name : List.of("1", "2")) {
                FaultClient client =
                        new FaultClient.Threads(name, contenders, referee, server.connectString(), SESSION, 1);
                clients.add(client);
                client.finish();
            }
            await().atMost(Duration.ofSeconds(120))
                    .until(() -> contenders.stream().allMatch(each -> referee.served(each) == 2 * FaultClient.LOCKS));
            for (FaultClient client : clients) {
                client.close();
            }
        }
        Evidence evidence =
                referee.evidence(ServerLog.read(List.of(folder.resolve("data")), clocks), TimeUnit.SECONDS.toNanos(1));
        List<FaultVerdict> verdicts = contenders.stream()
                .map(each -> new FaultVerdict(each, evidence, 0, new Arena.Remains(0, 0)))
                .toList();
        assertThat(evidence.tenures()).hasSizeGreaterThanOrEqualTo(2 * 3 * FaultClient.LOCKS);
        List<Tenure> heldBack = evidence.tenures().stream()
                .filter(tenure -> tenure.writes().stream().allMatch(Outcome.HELD_BACK::equals))
                .toList();
        assertThat(heldBack) // only ours are not sure of it after a pause of this machine
                .allSatisfy(tenure -> assertThat(tenure.subject()).isEqualTo(Contender.OURS))
                .hasSizeLessThan(2 * FaultClient.LOCKS);
        int written = evidence.tenures().size() - heldBack.size();
        assertThat(evidence.log().guardedWrites()).hasSize(written);
        assertThat(verdicts)
                .allSatisfy(verdict -> assertThat(verdict.violations()).isEmpty());
        new FaultReport(new Arena.Judgement(evidence, verdicts), List.of(), begun).write(folder, "machine\n");
        assertThat(folder.resolve("report.md")).content().contains("| grants | ");
        assertThat(Files.readAllLines(folder.resolve("holds.csv")))
                .hasSize(evidence.tenures().size() + 1)
                .filteredOn(line -> line.endsWith("DONE,DONE,DONE"))
                .hasSize(written);
    }
}
