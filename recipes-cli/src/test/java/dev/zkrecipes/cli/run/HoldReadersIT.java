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
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Whoever reads {@code zklock hold} is ended when the lock is lost, and not whoever happens to be its parent. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Execution(ExecutionMode.CONCURRENT)
@Tag("H129")
@WithZooKeeper
class HoldReadersIT {
    private static final String FOREVER = "; while :; do sleep 0.1; done";

    @TempDir
    private Path folder;

    private final EmbeddedZooKeeper server;

    HoldReadersIT(EmbeddedZooKeeper server) {
        Tool.BASH.require();
        this.server = server;
    }

    static Stream<Arguments> forms() {
        return Stream.of("bash", "sh")
                .flatMap(shell -> Stream.of(HoldForm.values())
                        .filter(form -> form.worksIn(shell))
                        .map(form -> Arguments.of(shell, form)));
    }

    @ParameterizedTest
    @MethodSource("forms")
    void loss_endsTheReader(String shell, HoldForm form) throws IOException, InterruptedException {
        assertLossEnds(shell, form, HoldLoss.NODE_DELETED);
    }

    @ParameterizedTest
    @EnumSource
    void anyLoss_endsTheReaderBehindAnotherProcess(HoldLoss loss) throws IOException, InterruptedException {
        assertLossEnds("bash", HoldForm.WITH_OR, loss);
    }

    private void assertLossEnds(String shell, HoldForm form, HoldLoss loss) throws IOException, InterruptedException {
        String path = "/readers/" + shell + "-" + form + "-" + loss;
        String script = form.script(path, folder.resolve("fifo").toString());
        try (RunningZkLock running = RunningZkLock.script(folder, server, shell, script)) {
            running.number("script");
            List<ProcessHandle> started = running.children();
            loss.happen(server, path, running);
            assertThat(running.awaitExit()).as(running.err()).isIn(137, 143);
            started.forEach(each -> RunningZkLock.awaitGone(each.pid()));
        }
    }

    /**
     * Reads from a socket, each end of which is closed in one direction, as a coprocess of ksh does. {@code timeout}
     * stands between.
     */
    private static String readingFromASocket(String path, String then) {
        return "exec perl -MSocket -e 'socketpair(my $in, my $out, AF_UNIX, SOCK_STREAM, 0) or die; shutdown $in, 1;"
                + " shutdown $out, 0; if (!fork) { open STDOUT, \">&\", $out; close $in; close $out;"
                + " exec \"timeout\", 600, $ENV{ZKLOCK}, \"hold\", \"--grace\", 1, \"-w\", 90, \"" + path
                + "\" } close $out;"
                + " $| = 1; <$in>; " + then + "; print \"script $$\\n\"; sleep 1 while 1'";
    }

    @Test
    void readerBehindASocket_isEnded() throws IOException, InterruptedException {
        String script = readingFromASocket("/readers/socket", "");
        try (RunningZkLock running = RunningZkLock.script(folder, server, script)) {
            running.number("script");
            List<ProcessHandle> started = running.children();
            HoldLoss.NODE_DELETED.happen(server, "/readers/socket", running);
            assertThat(running.awaitExit()).as(running.err()).isIn(137, 143);
            started.forEach(each -> RunningZkLock.awaitGone(each.pid()));
        }
    }

    @Test
    void socketThatTheReaderCloses_givesTheLockBack() throws IOException, InterruptedException {
        String script = readingFromASocket("/readers/closed", "sleep 1; close $in");
        try (RunningZkLock running = RunningZkLock.script(folder, server, script)) {
            running.number("script");
            RunningZkLock.awaitNodes(server, "/readers/closed", 0);
            assertThat(running.isAlive()).isTrue();
        }
    }

    /** The child has another parent by then, and not the descriptor. */
    @Test
    void whatAReaderHasStarted_isEnded_andAReaderThatClosedTheDescriptorUponTermIsToo()
            throws IOException, InterruptedException {
        String script =
                "exec 9< <(\"$ZKLOCK\" hold --grace 1 /readers/started || :); read -r fence rest <&9 || exit 3\n"
                        + "trap 'exec 9<&-; echo closed' TERM\n"
                        + "sh -c 'trap \"\" TERM; echo child $$" + FOREVER + "' 9<&- & echo up" + FOREVER;
        try (RunningZkLock running = RunningZkLock.script(folder, server, script)) {
            running.awaitOut("up");
            long child = running.number("child");
            server.deleteNode(
                    "/readers/started/" + server.children("/readers/started").get(0));
            assertThat(running.awaitExit()).as(running.err()).isEqualTo(137);
            RunningZkLock.awaitGone(child);
            assertThat(running.out()).contains("closed");
        }
    }

    /** A process that is not dumpable hides its descriptors from everybody who may not trace it. */
    @Test
    void readerThatCannotBeFound_isRefused_unlessItIsNamedOrIsLeftAloneAnyway()
            throws IOException, InterruptedException {
        Tool.PERL.require();
        Tool.SETPRIV.require();
        int prctl = System.getProperty("os.arch").equals("aarch64") ? 167 : 157;
        String hide = "syscall(" + prctl + ", 4, 0, 0, 0, 0) == 0 or die; $| = 1; open my $hold, '-|', @ARGV or die;"
                + " print 'line ', (scalar(<$hold>) // \"none\n\"); 1 while <$hold>; close $hold; print 'code ', $? >> 8, \"\n\"";
        String script = "set --; [ $(id -u) != 0 ] || set -- setpriv --bounding-set=-sys_ptrace\n"
                + "hide() { perl -e \"$HIDE\" -- \"$@\" \"$ZKLOCK\" hold -n $option /readers/hidden; }\n"
                + "option= hide \"$@\"; option=--on-lost=ignore hide \"$@\" & echo up; wait; option=--pid=999999999 hide \"$@\"";
        try (RunningZkLock running =
                RunningZkLock.script(folder, server, "bash", "HIDE=$(cat <<'E'\n" + hide + "\nE\n)\n" + script)) {
            running.awaitOut("up");
            RunningZkLock.awaitNodes(server, "/readers/hidden", 1);
            assertThat(running.out()).startsWith("line none\ncode 64\n");
            running.children().stream()
                    .filter(each -> each.info().command().orElse("").endsWith("perl"))
                    .forEach(ProcessHandle::destroy);
            running.awaitExit();
            assertThat(running.out()).endsWith("line none\ncode 64\n");
            assertThat(running.err())
                    .contains("cannot find the process that reads the output, or may not end it: name it with --pid")
                    .contains("--pid: process 999999999 does not exist, or zklock may not end it");
        }
    }

    @Test
    void givenProcess_holdsTheLockUntilItEnds_ifTheOutputIsNoPipe() throws IOException, InterruptedException {
        String script =
                "\"$ZKLOCK\" hold --pid $$ /readers/given >'" + folder.resolve("line") + "' & echo up; read -r x";
        try (RunningZkLock running = RunningZkLock.script(folder, server, script)) {
            RunningZkLock.awaitNodes(server, "/readers/given", 1);
            running.in().close();
            running.awaitExit();
            RunningZkLock.awaitNodes(server, "/readers/given", 0);
        }
    }

    /** The launcher's clock stands still, so that all happens at once. */
    @Test
    @Tag("H130")
    void lockGivenBackAtOnce_isAWarning_whileTheReaderLives() throws IOException, InterruptedException {
        assertThat(errOf("read -r line < <(h /readers/brief); echo \"got $line\"; wait; sleep 0.1"))
                .contains("released at once")
                .contains("exec 9< <(zklock hold PATH); read -r -u 9");
        assertThat(errOf("exec 9< <(h /readers/ended); read -r -u 9 line; echo \"got $line\""))
                .isEmpty();
        assertThat(
                        errOf(
                                "exec 9< <(h /readers/used); read -r -u 9 line; echo \"got $line\"; sleep 0; exec 9<&-; wait $!"))
                .isEmpty();
    }

    private String errOf(String script) throws IOException, InterruptedException {
        Path clock = folder.resolve("stopped.pl");
        Files.writeString(
                clock, "use POSIX (); no warnings; *POSIX::times = sub { 1000 }; $0 = shift; do $0; die $@ || $!");
        String stopped = "h() { exec perl '" + clock + "' \"$ZKLOCK\" hold \"$@\"; }; ";
        try (RunningZkLock running = RunningZkLock.script(folder, server, stopped + script)) {
            assertThat(running.awaitExit()).as(running.err()).isZero();
            assertThat(running.out()).startsWith("got ").contains("/readers/");
            String path = running.out().replaceAll("(?s).* (/readers/[a-z]+)/.*", "$1");
            RunningZkLock.awaitNodes(server, path, 0);
            return running.err();
        }
    }
}
