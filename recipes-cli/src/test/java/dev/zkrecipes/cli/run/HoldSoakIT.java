// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every way to read {@code zklock hold} in every shell that is installed, with many losses each: no reader survives one.
 * Prints a table. {@code -Dhold.losses=20} sets how many losses, {@code -Dhold.shells=bash,sh} which shells, and
 * {@code -Dhold.forms=FIFO.*} which forms.
 */
@Tag("soak")
@Tag("H129")
class HoldSoakIT {
    private static final int LOSSES = Integer.getInteger("hold.losses", 8);
    private static final String SHELLS = System.getProperty("hold.shells", "bash,sh,ksh,zsh,mksh,busybox sh");
    private static final String FORMS = System.getProperty("hold.forms", ".*");
    private static final int AT_A_TIME = 4;

    @TempDir
    private Path folder;

    @Test
    void noReaderSurvivesALoss() throws Exception {
        List<String> table = new ArrayList<>();
        ExecutorService lanes = Executors.newFixedThreadPool(AT_A_TIME);
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            for (String shell : SHELLS.split(",")) {
                if (!isInstalled(shell.split(" ")[0])) {
                    table.add(shell + " is not installed");
                    continue;
                }
                for (HoldForm form : HoldForm.values()) {
                    if (form.worksIn(shell) && form.name().matches(FORMS)) {
                        List<Future<String>> losses = new ArrayList<>();
                        for (int i = 0; i < LOSSES; i++) {
                            int number = i;
                            losses.add(lanes.submit(() -> lose(server, shell, form, number)));
                        }
                        List<String> survivors = new ArrayList<>();
                        for (Future<String> loss : losses) {
                            survivors.add(loss.get());
                        }
                        survivors.removeIf(String::isEmpty);
                        table.add("%-11s %-14s %3d losses, %d readers survived %s"
                                .formatted(shell, form, LOSSES, survivors.size(), survivors));
                        System.out.println("hold: " + table.get(table.size() - 1));
                    }
                }
            }
        } finally {
            lanes.shutdownNow();
        }
        assertThat(table)
                .isNotEmpty()
                .allMatch(line -> line.contains(" 0 readers survived") || line.contains("is not"));
    }

    /** Returns what survived. */
    private String lose(EmbeddedZooKeeper server, String shell, HoldForm form, int number)
            throws IOException, InterruptedException {
        HoldLoss loss = HoldLoss.values()[number % HoldLoss.values().length];
        Path own = Files.createTempDirectory(folder, "loss");
        String path = "/soak/" + own.getFileName();
        String script = form.script(path, own.resolve("fifo").toString(), "--grace=1 --wait=240");
        try (RunningZkLock running = RunningZkLock.script(own, server, shell, script)) {
            running.number("script");
            List<ProcessHandle> started = running.children();
            loss.happen(server, path, running);
            running.awaitExit();
            started.forEach(each -> RunningZkLock.awaitGone(each.pid()));
            return "";
        } catch (AssertionError | RuntimeException e) {
            return loss + ": " + e;
        }
    }

    private static boolean isInstalled(String shell) {
        return Stream.of(System.getenv("PATH").split(":")).anyMatch(each -> Files.isExecutable(Path.of(each, shell)));
    }
}
