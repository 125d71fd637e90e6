// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.ensemble;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EnsembleServer;
import dev.zkrecipes.test.ZooKeeperEnsemble;
import dev.zkrecipes.test.internal.ChildJvms;
import dev.zkrecipes.test.internal.Seed;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Twelve processes count under locks of every recipe on three servers, while the leader is killed, followers are cut off
 * from their clients and from their leader, and holders are stopped for longer than their sessions last. No guarded write
 * is lost, no late one gets through, no lease claims to be valid after another client was granted, all are served
 * afterwards, and nothing is left.
 *
 * <p>Each kind of trouble happens at least once; {@code -Densemble.seconds=180} runs for longer. {@code
 * -Dzkrecipes.seed=N} repeats the choices of a run.
 */
@Tag("soak")
@Timeout(1200)
class EnsembleFaultsIT {
    private static final int PROCESSES = 12;

    private final Seed seed = Seed.forTest("EnsembleFaultsIT");
    private final Duration length = Duration.ofSeconds(Integer.getInteger("ensemble.seconds", 1));
    private final Path folder;
    private final List<Diary> diaries = new ArrayList<>();

    EnsembleFaultsIT(@TempDir Path folder) {
        this.folder = folder;
    }

    @Test
    @Tag("H07")
    @Tag("H08")
    @Tag("H25")
    @Tag("H57")
    void counters_stayRight_underFaultsOfServersAndHolders() throws Exception {
        try (ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start();
                ChildJvms processes = new ChildJvms();
                Store store = new Store(ensemble.connectString())) {
            store.prepare(Way.NAMES);
            List<Process> counting = start(processes, ensemble);
            await().atMost(Duration.ofMinutes(3)).until(() -> diaries.stream().allMatch(Diary::isBegun));
            makeTrouble(ensemble, counting);
            for (Process process : counting) {
                process.getOutputStream().close(); // the sign to take every lock once more, and to end
            }
            processes.join(Duration.ofMinutes(3));
            judge(store);
        }
    }

    private List<Process> start(ChildJvms processes, ZooKeeperEnsemble ensemble) {
        List<Process> counting = new ArrayList<>();
        for (int i = 0; i < PROCESSES; i++) {
            diaries.add(new Diary(folder, i));
            counting.add(processes.start(
                    CountingProcess.class,
                    Trouble.serverOf(i, ensemble)
                            .map(EnsembleServer::connectString)
                            .orElse(ensemble.connectString()),
                    ensemble.connectString(),
                    String.valueOf(i),
                    folder.toString(),
                    String.valueOf(seed.random(i).nextLong())));
        }
        return counting;
    }

    private void makeTrouble(ZooKeeperEnsemble ensemble, List<Process> counting)
            throws InterruptedException, IOException {
        Random random = seed.random(PROCESSES);
        try (ZooKeeperClient observer = ZooKeeperClient.builder()
                .connectString(ensemble.connectString())
                .sessionTimeout(Duration.ofSeconds(30))
                .build()) {
            List<Trouble.Holder> holders = new ArrayList<>();
            diaries.forEach(diary -> holders.add(() -> diary.stay().isPresent()));
            new Trouble(ensemble, random, holders, new FrozenHolder(observer, counting, diaries, random))
                    .makeAllFor(length);
        }
    }

    private void judge(Store store) throws IOException, KeeperException, InterruptedException {
        List<Hold> holds = new ArrayList<>();
        List<Write> writes = new ArrayList<>();
        for (Diary diary : diaries) {
            holds.addAll(diary.holds());
            writes.addAll(diary.writes());
        }
        store.catchUp();
        Map<String, Long> counters = new HashMap<>();
        Map<String, List<Store.Entry>> histories = new HashMap<>();
        for (String name : Way.NAMES) {
            counters.put(name, store.value(name));
            histories.put(name, store.history(name));
            assertThat(store.nodesBelow(Way.path(name)))
                    .as("left below " + name)
                    .isEmpty();
        }
        System.out.println(holds.size() + " holds; writes: " + count(writes) + "; counters: " + counters);
        assertThat(RunVerdict.violations(holds, writes, counters, histories)).isEmpty();
        assertThat(count(writes)).as("late writes, which the guard refused").containsKey(Write.Outcome.REFUSED);
    }

    private static Map<Write.Outcome, Integer> count(List<Write> writes) {
        Map<Write.Outcome, Integer> counts = new HashMap<>();
        writes.forEach(write -> counts.merge(write.outcome(), 1, Integer::sum));
        return counts;
    }
}
