// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.cli.Tool;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the command of {@code zklock run} gets, beside what it gets from {@code flock}: a script runs with either as its
 * arguments, and prints the same.
 */
@Tag("H116")
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BesideFlockTest {
    @TempDir
    private Path folder;

    BesideFlockTest() {
        Tool.FLOCK.require();
        Tool.BASH.require();
    }

    private record Printed(int code, String out, String err) {}

    private Printed script(String script, String tool) throws IOException, InterruptedException {
        String before = "cd '" + folder + "'; exec </dev/null; set -- " + tool + "\n";
        try (RunningZkLock bash = new ScriptedKeeper(folder).script("bash", before + script)) {
            return new Printed(bash.awaitExit(), bash.bytesOfOut(), bash.err());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                // arguments
                "LC_ALL=C \"$@\" printf '%s.' $'\\xff\\xfe\\xe4' 'a b' '' '*' $'\\n'",
                "LC_ALL=C \"$@\" printf %s -- --help @file",
                // descriptors
                "\"$@\" cat <(echo one) <(echo two)",
                "exec 9>nine; \"$@\" sh -c 'echo written >&9'; cat nine",
                "exec 8<<<eight; \"$@\" sh -c 'read -r x <&8; echo $x'; cat <&8",
                "printf 'a\\nb\\n' | { \"$@\" sh -c 'read -r x; echo $x'; cat; }",
                "(\"$@\" sh -c 'yes | head -c 1000000; echo end >&2') 2>&1 | cksum",
                // signals that are blocked or ignored
                "\"$@\" grep '^Sig[BI]' /proc/self/status",
                "trap '' USR1 PIPE TTOU; \"$@\" grep '^Sig[BI]' /proc/self/status",
                "perl -MPOSIX=:signal_h -e 'sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGQUIT, SIGUSR2, SIGCHLD));"
                        + " exec @ARGV' \"$@\" grep '^Sig[BI]' /proc/self/status",
                // environment
                "env -i a.b=1 c-d=2 'e f=3' LC_ALL=C PATH=\"$PATH\" JAVA_HOME=\"$JAVA_HOME\" ZKLOCK_JAR=\"$ZKLOCK_JAR\""
                        + " ZKLOCK_CONNECT=\"$ZKLOCK_CONNECT\" \"$@\" env -0"
                        + " | tr '\\0\\n' '\\n ' | grep -v '^ZKLOCK_[FNPS]' | sort",
                "export JAVA_TOOL_OPTIONS=-Xnonsense _JAVA_OPTIONS=-Xmore JDK_JAVA_OPTIONS=-Xmost PERL5OPT=-Mnothing"
                        + " PERL5LIB=/none BASH_ENV=/none; \"$@\" sh -c"
                        + " 'echo $JAVA_TOOL_OPTIONS $_JAVA_OPTIONS $JDK_JAVA_OPTIONS $PERL5OPT $PERL5LIB'",
                "export PERL_UNICODE=SDA; \"$@\" printf '%s.' $'\\xff\\xe4' $'\\xc3\\xa4' \"$PERL_UNICODE\"",
                // the rest
                "mkdir gone; cd gone; rmdir ../gone; \"$@\" echo 'there is no working directory any more'",
                "umask 027; ulimit -n 200; cd /; \"$@\" sh -c 'umask; ulimit -n; pwd'",
                "\"$@\" sh -c 'kill -TERM $$'; echo $?; \"$@\" sh -c 'exit 9'; echo $?; \"$@\" sh -c 'kill -QUIT $$'; echo $?",
                "echo 'echo a script without its first line' > plain; chmod +x plain; \"$@\" ./plain",
                "\"$@\" sh -c 'sleep 1000 & echo ended'",
            })
    void command_isWhatFlockWouldStart(String script) throws IOException, InterruptedException {
        Printed byFlock = script(script, "flock " + folder.resolve("lock"));
        Printed byZkLock = script(script, RunningZkLock.LAUNCHER + " run /beside");
        assertThat(byFlock.out()).isNotEmpty();
        assertThat(byZkLock.err()).isEqualTo(byFlock.err());
        assertThat(byZkLock).isEqualTo(byFlock);
    }
}
