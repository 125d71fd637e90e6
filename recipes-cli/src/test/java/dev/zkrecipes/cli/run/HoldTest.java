// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.cli.Tool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** {@code zklock hold} beside a {@link ScriptedKeeper}: how long a script has the lock, and whom a loss ends. */
class HoldTest extends ScriptedKeeperStage {
    private static final String FOREVER = "; while :; do sleep 0.1; done";

    @BeforeEach
    void requireBash() {
        Tool.BASH.require();
    }

    private RunningZkLock script(String hold, String rest) throws IOException, InterruptedException {
        return keeper.script("bash", """
                exec 9< <("$ZKLOCK" hold %s)
                read -r -u 9 fence session node || { wait $!; code=$?; echo "code $code"; exit 3; }
                """.formatted(hold) + rest);
    }

    private void awaitOver(int code) {
        keeper.awaitHeard("over " + code);
    }

    private void assertHeld() throws IOException {
        assertThat(keeper.heard()).noneMatch(line -> line.startsWith("over"));
    }

    /** Until the launcher has asked twice, and so has looked who reads. */
    private void assertStaysHeld() throws IOException {
        int heard = keeper.heard().size();
        await().atMost(RunningZkLock.LIMIT)
                .until(() -> keeper.heard().size() >= heard + 2
                        || keeper.heard().stream().anyMatch(line -> line.startsWith("over")));
        assertHeld();
    }

    // ---- how long the lock is held

    /** As with {@code flock 9}: what the script has started, and has its descriptor, keeps the lock. */
    @Test
    void killedScript_keepsTheLockAsLongAsWhatItHasStarted() throws IOException, InterruptedException {
        keeper.upon("go", "grant 1");
        try (RunningZkLock script = script("/a", "trap : INT TERM; sh -c 'echo child $$; exec sleep 1000'")) {
            long child = script.number("child");
            script.signal("KILL");
            assertThat(script.awaitExit()).isEqualTo(137);
            assertStaysHeld();
            RunningZkLock.signal("KILL", child);
            awaitOver(0);
        }
    }

    @Test
    void killedScript_leavesTheQueue() throws IOException, InterruptedException {
        keeper.upon("go", ":");
        try (RunningZkLock script = script("/a", "echo ran")) {
            keeper.awaitHeard("go");
            long waiting = keeper.pid();
            script.signal("KILL");
            RunningZkLock.awaitGone(waiting);
            assertThat(keeper.heard()).containsExactly("go"); // and then the end of its input
            assertThat(script.out()).isEmpty();
        }
    }

    @Test
    void descriptorClosedBeforeTheGrant_doesNotEndTheScript() throws IOException, InterruptedException {
        keeper.upon("go", "until [ -e grant ]; do sleep 0.1; done; grant");
        String closes = "exec 9< <(\"$ZKLOCK\" hold /a); exec 9<&-; touch '" + keeper.file("grant")
                + "'; wait $!; echo after; exit 7";
        try (RunningZkLock script = keeper.script("bash", closes)) {
            assertThat(script.awaitExit()).as(script.err()).isEqualTo(7);
            assertThat(script.out()).isEqualTo("after\n");
            assertThat(script.err()).isEmpty();
        }
    }

    @Test
    void refusal_isToldAndTheScriptGoesOnWithoutTheLock() throws IOException, InterruptedException {
        keeper.upon("go", "echo 'zklock: not acquired' >&3; echo '+end 5'; exit");
        try (RunningZkLock script = script("/a", "echo ran")) {
            assertThat(script.awaitExit()).as(script.err()).isEqualTo(3);
            assertThat(script.out()).isEqualTo("code 5\n");
            assertThat(script.err()).isEqualTo("zklock: not acquired\n");
        }
    }

    @Test
    void signalsOfTheTerminal_doNotEndTheHoldBeforeTheScript() throws IOException, InterruptedException {
        try (RunningZkLock script = script("/a", "echo hold $!; read -r x; exit 7")) {
            long hold = script.number("hold");
            for (String name : new String[] {"INT", "TERM", "HUP", "QUIT", "TSTP"}) {
                RunningZkLock.signal(name, hold);
            }
            assertHeld();
            script.in().close();
            assertThat(script.awaitExit()).as(script.err()).isEqualTo(7);
            awaitOver(0);
        }
    }

    /** As Ctrl-Z does to a pipeline. A shell waits until all of it has stopped. */
    @Test
    @Tag("H270")
    void stop_stopsTheHold_onceItsReaderHasStopped() throws IOException, InterruptedException {
        String script = "exec 3<&0; \"$ZKLOCK\" hold /a | { read -r line; echo reader $BASHPID; read -r x <&3; }";
        try (RunningZkLock running = keeper.script("bash", script)) {
            long reader = running.number("reader");
            long hold = ProcessHandle.of(keeper.pid())
                    .flatMap(ProcessHandle::parent)
                    .orElseThrow()
                    .pid();
            RunningZkLock.signal("STOP", reader);
            RunningZkLock.signal("TSTP", hold);
            awaitStop(hold);
            RunningZkLock.signal("CONT", hold);
            RunningZkLock.signal("CONT", reader);
            running.in().close();
            running.awaitExit();
            awaitOver(0);
        }
    }

    @Test
    @Tag("H270")
    void stop_stopsAHoldThatHasNoReader() throws IOException, InterruptedException {
        try (RunningZkLock hold = keeper.zklock("hold", "/a")) {
            hold.awaitOut("/a/n\n");
            hold.signal("TSTP");
            awaitStop(hold.pid());
            hold.signal("CONT");
            hold.signal("TERM");
            assertThat(hold.awaitExit()).as(hold.err()).isEqualTo(143);
        }
    }

    private static void awaitStop(long pid) {
        await().atMost(RunningZkLock.LIMIT).until(() -> RunningZkLock.state(pid).startsWith("T"));
    }

    @Test
    void givenProcess_holdsTheLockUntilItEnds_ifTheOutputIsNoPipe() throws IOException, InterruptedException {
        keeper.upon("go", "grant 1");
        String script = "\"$ZKLOCK\" hold --pid=$$ /a >'" + folder.resolve("line") + "' & echo up; read -r x";
        try (RunningZkLock running = keeper.script("bash", script)) {
            keeper.awaitHeard("target tree " + running.pid());
            assertStaysHeld();
            running.in().close();
            running.awaitExit();
            awaitOver(0);
        }
    }

    /** The launcher's clock stands still, so that all happens at once. */
    @Test
    @Tag("H130")
    void lockGivenBackAtOnce_isAWarning_whileTheReaderLives() throws IOException, InterruptedException {
        assertThat(errOf("read -r line < <(h); echo \"got $line\"; wait; sleep 0.1"))
                .contains("released at once")
                .contains("exec 9< <(zklock hold PATH); read -r -u 9");
        assertThat(errOf("exec 9< <(h); read -r -u 9 line; echo \"got $line\"")).isEmpty();
        assertThat(errOf("exec 9< <(h); read -r -u 9 line; echo \"got $line\"; sleep 0; exec 9<&-; wait $!"))
                .isEmpty();
    }

    private String errOf(String script) throws IOException, InterruptedException {
        Files.deleteIfExists(keeper.file("heard"));
        Path clock = Files.writeString(
                folder.resolve("stopped.pl"),
                "use POSIX (); no warnings; *POSIX::times = sub { 1000 }; $0 = shift; do $0; die $@ || $!");
        String stopped = "h() { exec perl '" + clock + "' \"$ZKLOCK\" hold /a; }; ";
        try (RunningZkLock running = keeper.script("bash", stopped + script)) {
            assertThat(running.awaitExit()).as(running.err()).isZero();
            assertThat(running.out()).isEqualTo("got 7 0x1 /a/n\n");
            awaitOver(0);
            return running.err();
        }
    }

    // ---- who is ended by a loss

    static Stream<Arguments> forms() {
        return Stream.of("bash", "sh")
                .flatMap(shell -> Stream.of(HoldForm.values())
                        .filter(form -> form.worksIn(shell))
                        .map(form -> Arguments.of(shell, form)));
    }

    @ParameterizedTest
    @MethodSource("forms")
    @Tag("H129")
    void loss_endsTheReader_andWhatItHasStarted(String shell, HoldForm form) throws IOException, InterruptedException {
        assertLossEnds(shell, form.script("/a", folder.resolve("fifo").toString(), "--grace=1"));
    }

    private void assertLossEnds(String shell, String script) throws IOException, InterruptedException {
        try (RunningZkLock running = keeper.script(shell, script)) {
            long reader = running.number("script");
            List<ProcessHandle> started = running.children();
            keeper.lose();
            awaitOver(0);
            assertThat(RunningZkLock.runs(reader))
                    .as("the reader, when the lock is given back")
                    .isFalse();
            assertThat(running.awaitExit()).as(running.err()).isIn(137, 143);
            started.forEach(each -> RunningZkLock.awaitGone(each.pid()));
        }
    }

    /**
     * Reads from a socket, each end of which is closed in one direction, as a coprocess of ksh does. {@code timeout}
     * stands between.
     */
    private static String readingFromASocket(String then) {
        return "exec perl -MSocket -e 'socketpair(my $in, my $out, AF_UNIX, SOCK_STREAM, 0) or die; shutdown $in, 1;"
                + " shutdown $out, 0; if (!fork) { open STDOUT, \">&\", $out; close $in; close $out;"
                + " exec \"timeout\", 600, $ENV{ZKLOCK}, \"hold\", \"--grace=1\", \"/a\" } close $out;"
                + " $| = 1; <$in>; " + then + "; print \"script $$\\n\"; sleep 1 while 1'";
    }

    @Test
    @Tag("H129")
    void readerBehindASocket_isEnded() throws IOException, InterruptedException {
        assertLossEnds("bash", readingFromASocket(""));
    }

    @Test
    void socketThatTheReaderCloses_givesTheLockBack() throws IOException, InterruptedException {
        try (RunningZkLock running = keeper.script("bash", readingFromASocket("sleep 1; close $in"))) {
            running.number("script");
            awaitOver(0);
            assertThat(running.isAlive()).isTrue();
        }
    }

    /** The child has another parent by then, and not the descriptor. */
    @Test
    @Tag("H129")
    void whatAReaderHasStarted_isEnded_andAReaderThatClosedTheDescriptorUponTermIsToo()
            throws IOException, InterruptedException {
        String script = "exec 9< <(\"$ZKLOCK\" hold --grace=5 /a || :); read -r fence rest <&9 || exit 3\n"
                + "trap 'exec 9<&-; echo closed' TERM\n"
                + "sh -c 'trap \"\" TERM; echo child $$" + FOREVER + "' 9<&- & echo up" + FOREVER;
        try (RunningZkLock running = keeper.script("bash", script)) {
            running.awaitOut("up");
            long child = running.number("child");
            keeper.lose();
            awaitOver(0);
            assertThat(RunningZkLock.runs(child))
                    .as("the child, when the lock is given back")
                    .isFalse();
            assertThat(RunningZkLock.runs(running.pid())).as("the reader").isFalse();
            assertThat(running.awaitExit()).as(running.err()).isEqualTo(137);
            assertThat(running.out()).contains("closed");
        }
    }

    /** A process that is not dumpable hides its descriptors from everybody who may not trace it. */
    @Test
    @Tag("H129")
    void readerThatCannotBeFound_isRefused_unlessItIsNamedOrIsLeftAloneAnyway()
            throws IOException, InterruptedException {
        Tool.SETPRIV.require();
        int prctl = System.getProperty("os.arch").equals("aarch64") ? 167 : 157;
        String hide = "syscall(" + prctl + ", 4, 0, 0, 0, 0) == 0 or die; $| = 1; open my $hold, '-|', @ARGV or die;"
                + " print 'line ', (scalar(<$hold>) // \"none\n\"); 1 while <$hold>; close $hold; print 'code ', $? >> 8, \"\n\"";
        String script = "set --; [ $(id -u) != 0 ] || set -- setpriv --bounding-set=-sys_ptrace\n"
                + "hide() { perl -e \"$HIDE\" -- \"$@\" \"$ZKLOCK\" hold $option /a; }\n"
                + "option= hide \"$@\"; option=--on-lost=ignore hide \"$@\" & echo up; wait; option=--pid=999999999 hide \"$@\"";
        Map<String, String> environment = new HashMap<>(keeper.environment());
        environment.put("HIDE", hide);
        try (RunningZkLock running = RunningZkLock.script(folder, environment, "bash", script)) {
            running.awaitOut("up");
            keeper.awaitHeard("target tree 0"); // nobody whom a loss could end
            assertThat(running.out()).startsWith("line none\ncode 64\n");
            await().atMost(RunningZkLock.LIMIT).until(() -> running.out().contains("line 7 0x1"));
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
}
