// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.cli.Tool;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The launcher says one thing only where something is wrong, and nothing of what it is made of. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper
class LauncherIT {
    @TempDir
    private Path folder;

    private final EmbeddedZooKeeper server;

    LauncherIT(EmbeddedZooKeeper server) {
        Tool.BASH.require();
        Tool.PERL.require();
        this.server = server;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "LC_ALL=xx_YY.UTF-8 $ZKLOCK run -n /quiet env >env; grep -c -e ZKLOCK_OPT -e BADLANG env | 1 | 0 | ''",
                "PERL_BADLANG=1 $ZKLOCK run -n /quiet sh -c 'echo $PERL_BADLANG' | 0 | 1 | ''",
                "perl $ZKLOCK run -n /quiet echo ran | 0 | ran | ''",
                "sh $ZKLOCK run -n /quiet echo ran | 70 | '' | is a Perl program: run it directly, not with a shell",
                "$ZKLOCK ls /quiet >/dev/full | 74 | '' | zklock: the output cannot be written: No space left on device",
                "$ZKLOCK run --help >/dev/full | 74 | '' | zklock: the output cannot be written: No space left on device",
                "$ZKLOCK hold -n /full >/dev/full | 74 | '' | zklock: the line cannot be written: No space left on device",
                "set -o pipefail; $ZKLOCK ls --help ! head -n 1 >/dev/null | 0 | '' | ''",
                "$ZKLOCK run -n /quiet -c 'echo ran' | 64 | '' | there is no -c COMMAND as in flock: write sh -c 'COMMAND'",
                "$ZKLOCK run /own $ZKLOCK run /own echo ran | 65 | '' | /own is held for the command that asks for it ($ZKLOCK_PATH)",
                "$ZKLOCK run /own $ZKLOCK run -n -E 9 /own echo ran | 9 | '' | not acquired: /own is held by",
                "$ZKLOCK run -s /read $ZKLOCK run -s /read echo ran | 0 | ran | ''",
                "$ZKLOCK run -s /read $ZKLOCK run -x /read echo ran | 65 | '' | would wait for itself",
                "ZKLOCK_PATH=/own ZKLOCK_SESSION=0x1 $ZKLOCK run /own echo ran | 0 | ran | ''",
            })
    void line_isToldInOneLineOrNone(String line, int code, String out, String err)
            throws IOException, InterruptedException {
        String inBash = "cd '" + folder + "'; " + line.replace('!', '|');
        try (RunningZkLock zklock = RunningZkLock.script(folder, server, inBash)) {
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(code);
            assertThat(zklock.out().strip()).isEqualTo(out);
            assertThat(zklock.err().lines().filter(each -> !each.startsWith("Try 'zklock")))
                    .hasSize(err.isEmpty() ? 0 : 1)
                    .allMatch(each -> each.contains(err));
        }
    }

    @Test
    void unknownHost_isNamed() throws IOException, InterruptedException {
        RunningZkLock.assertRunFailsInTime(
                folder,
                Map.of(),
                69,
                List.of("the host name of no.invalid:1 is unknown"),
                "--connect=no.invalid:1",
                "/quiet",
                "true");
    }
}
