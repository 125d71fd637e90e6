// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.cli.Tool;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The scripts of {@code docs/zklock.md} run as they stand there, with stand-ins for what they start. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper
class ZkLockPageIT {
    private static final Pattern SCRIPT = Pattern.compile("```(?:ba)?sh\n(.*?)```", Pattern.DOTALL);

    @TempDir
    private Path folder;

    private final EmbeddedZooKeeper server;

    ZkLockPageIT(EmbeddedZooKeeper server) {
        Tool.BASH.require();
        this.server = server;
    }

    private String run(String part, String before) throws IOException, InterruptedException {
        String page = Files.readString(Path.of("../docs/zklock.md"));
        List<String> scripts = SCRIPT.matcher(page)
                .results()
                .map(MatchResult::group)
                .filter(each -> each.contains(part))
                .map(each -> each.replaceAll("```(bash|sh)?\n?", ""))
                .toList();
        assertThat(scripts).as(part).hasSize(1);
        for (String stub : List.of("nightly.sh", "deploy.sh", "import.sh")) {
            Path file =
                    Files.writeString(folder.resolve(stub), "#!/bin/sh\necho \"" + stub + " $* under $ZKLOCK_PATH\"\n");
            Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        Files.deleteIfExists(folder.resolve("zklock"));
        Files.createSymbolicLink(folder.resolve("zklock"), RunningZkLock.LAUNCHER);
        String script = "cd '" + folder + "'; PATH=$PWD:$PATH\n" + before + "\n"
                + scripts.get(0).replaceAll("zk1:2181,zk2:2181,zk3:2181/ops", server.connectString());
        try (RunningZkLock bash = RunningZkLock.script(folder, server, script)) {
            assertThat(bash.awaitExit()).as(bash.err()).isZero();
            return bash.out();
        }
    }

    @Test
    void scriptsOfRun() throws IOException, InterruptedException {
        assertThat(run("run -n /locks/nightly -- nightly.sh", "")).isEqualTo("nightly.sh  under /locks/nightly\n");
        assertThat(run("./deploy.sh", "")).isEqualTo("deploy.sh  under /locks/deploy\ndeployed\n");
        assertThat(run("import.sh customers", ""))
                .isEqualTo("import.sh customers under /locks/imports\nimport.sh everything under /locks/imports\n");
    }

    @Test
    void scriptOfTheFencingToken_refusesALateHolder() throws IOException, InterruptedException {
        run("store.fence", "ZKLOCK_FENCE=7; echo new >result.new");
        assertThat(Stream.of("store.fence", "result").map(folder::resolve)).allMatch(Files::exists);
        run("store.fence", "trap 'exit 0' EXIT; ZKLOCK_FENCE=6");
        assertThat(Files.readString(folder.resolve("store.fence"))).isEqualTo("7\n");
    }

    @Test
    void scriptOfHold() throws IOException, InterruptedException {
        assertThat(run("zklock hold -n /locks/nightly", ""))
                .matches("nobody else is here; my fencing token is [1-9][0-9]*\n");
        RunningZkLock.awaitNodes(server, "/locks/nightly", 0); // given back after the script, and another one wants it
    }
}
