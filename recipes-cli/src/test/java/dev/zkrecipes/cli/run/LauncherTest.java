// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.RunningZkLock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code bin/zklock} by itself, beside a {@link ScriptedKeeper}: no test here needs a JVM, the jar or a server. */
class LauncherTest extends ScriptedKeeperStage {
    /** Says who it is, and ends when it is told to. */
    static final String OBEDIENT = "trap 'echo told; exit 3' TERM; echo pid $$; while :; do sleep 0.1; done";

    static final String DEAF = "trap '' TERM; echo pid $$; while :; do sleep 0.1; done";

    /** For {@link #with}: a clock that stands still. Each reading of the clock file is noted in another file. */
    private static final String CLOCK = """
            *POSIX::times = sub {
              open my $clock, '<', "$ENV{FOLDER}/clock" or die;
              my $now = <$clock>;
              open my $readings, '>>', "$ENV{FOLDER}/readings" or die;
              print $readings "$now\\n";
              return $now * POSIX::sysconf(POSIX::_SC_CLK_TCK());
            };
            """;

    /** For {@link #with}: the fork of that number fails. The first is the keeper's, the second the command's. */
    private static String failingFork(int number) {
        return "my $forks = 0; *CORE::GLOBAL::fork = sub () { return CORE::fork() if ++$forks != " + number
                + "; $! = POSIX::EAGAIN(); return undef };";
    }

    /** Runs a script whose {@code $ZKLOCK} is the launcher in a Perl that was changed before. */
    private RunningZkLock with(String change, Map<String, String> environment, String script)
            throws IOException, InterruptedException {
        Path changed = Files.writeString(
                folder.resolve("changed.pl"),
                "use POSIX (); no warnings;\n" + change + "\n$0 = shift; do $0; die $@ || $!;\n");
        Path zklock = Files.writeString(
                folder.resolve("zklock"),
                "#!/bin/sh\nexec perl '" + changed + "' '" + RunningZkLock.LAUNCHER + "' \"$@\"\n");
        Files.setPosixFilePermissions(zklock, PosixFilePermissions.fromString("rwxr-xr-x"));
        Map<String, String> all = new HashMap<>(environment);
        all.put("FOLDER", folder.toString());
        all.put("ZKLOCK", zklock.toString());
        return RunningZkLock.script(folder, all, "bash", script);
    }

    // ---- the end of the command

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "0   | true                    | ",
                "7   | -- sh -c 'exit 7'       | ",
                "143 | sh -c 'kill -TERM $$'   | ",
                "137 | sh -c 'kill -KILL $$'   | ",
                "127 | no-such-command         | no-such-command: command not found",
                "126 | /etc/passwd             | /etc/passwd: cannot be executed",
            })
    void exitCode_isThatOfTheCommand_orSaysWhyItNeverRan(int code, String line, String told)
            throws IOException, InterruptedException {
        keeper.starting("case $2 in --) words=$((words - 1)) ;; esac");
        try (RunningZkLock zklock = keeper.zklock(Words.split("run /a " + line))) {
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(code);
            assertThat(zklock.err()).startsWith(told == null ? "" : "zklock: ").contains(told == null ? "" : told);
            assertThat(zklock.err().lines()).hasSize(told == null ? 0 : 1);
            assertThat(keeper.heard().contains("go")).isEqualTo(told == null);
        }
    }

    /** As some daemons start their jobs. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "<&- | wc -c           | 0",
                ">&- | echo lost       | ''",
                "2>&- | echo x >&2 && echo kept | kept",
            })
    void closedStream_isEmptyForTheCommand(String closing, String command, String printed)
            throws IOException, InterruptedException {
        String script = "exec \"$ZKLOCK\" run /a sh -c '" + command + "; exit 3' " + closing;
        try (RunningZkLock zklock = keeper.script("bash", script)) {
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(3);
            assertThat(zklock.out().strip()).isEqualTo(printed);
            assertThat(zklock.err()).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "LC_ALL=xx_YY.UTF-8 $ZKLOCK run /a env >env; grep -c -e ZKLOCK_OPT -e BADLANG env | 1 | 0 | ''",
                "PERL_BADLANG=1 $ZKLOCK run /a sh -c 'echo $PERL_BADLANG' | 0 | 1 | ''",
                "perl $ZKLOCK run /a echo ran | 0 | ran | ''",
                "sh $ZKLOCK run /a echo ran | 70 | '' | is a Perl program: run it directly, not with a shell",
                "$ZKLOCK hold /a >/dev/full | 74 | '' | zklock: the line cannot be written: No space left on device",
                "head -c 1020 /dev/zero >f; ulimit -f 1; $ZKLOCK hold /a >>f | 74 | '' | cannot be written: File too large",
                "head -c 1024 /dev/zero >f; ulimit -f 1; $ZKLOCK run /a no-such-command 2>>f | 127 | '' | ''",
            })
    @Tag("H268")
    void line_isToldInOneLineOrNone(String line, int code, String out, String err)
            throws IOException, InterruptedException {
        try (RunningZkLock zklock = keeper.script("bash", "cd '" + folder + "'; " + line)) {
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(code);
            assertThat(zklock.out().strip()).isEqualTo(out);
            assertThat(zklock.err().lines()).hasSize(err.isEmpty() ? 0 : 1).allMatch(each -> each.contains(err));
        }
    }

    @Test
    void commandThatCannotBeForked_isToldAndIsOver() throws IOException, InterruptedException {
        try (RunningZkLock zklock = with(failingFork(2), keeper.environment(), "$ZKLOCK run /a echo ran")) {
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(70);
            assertThat(zklock.out()).isEmpty();
            assertThat(zklock.err())
                    .startsWith("zklock: cannot start a process for the command: ")
                    .hasLineCount(1);
            assertThat(keeper.heard()).containsExactly("go", "over 70");
        }
    }

    /** The third fork is that of the process which waits for the archive of classes. */
    @Test
    void archiveThatNobodyCanWaitFor_isGivenUp_andTheExitCodeIsTheCommands() throws IOException, InterruptedException {
        Map<String, String> environment = new HashMap<>(keeper.environment());
        environment.put("ZKLOCK_CDS", "");
        try (RunningZkLock zklock = with(failingFork(3), environment, "$ZKLOCK run /a sh -c 'exit 3'")) {
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(3);
            assertThat(zklock.err()).isEmpty();
            assertThat(Path.of(environment.get("ZKLOCK_JAR") + ".preparing")).doesNotExist();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "'', /dev/full, No space left on device",
        "head -c 1024 /dev/zero >f; ulimit -f 1, f, File too large",
    })
    @Tag("H268")
    void helpThatCannotBeWritten_endsWith74(String limit, String file, String why)
            throws IOException, InterruptedException {
        keeper.starting("echo 'Usage: zklock run'; echo '+end 0'; exit");
        String script = "cd '" + folder + "'; $ZKLOCK run --help; (" + limit + "\n$ZKLOCK run --help >>" + file + ")";
        try (RunningZkLock zklock = keeper.script("bash", script)) {
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(74);
            assertThat(zklock.out()).isEqualTo("Usage: zklock run\n");
            assertThat(zklock.err()).isEqualTo("zklock: the output cannot be written: " + why + "\n");
        }
    }

    // ---- the keeper's process

    @Test
    @Tag("H116")
    void keeper_hasNothingOfTheCommands_andTheCommandNothingOfTheKeepers() throws IOException, InterruptedException {
        Path own = Files.createFile(folder.resolve("descriptor-of-the-script"));
        keeper.starting("env >environment");
        Map<String, String> environment = new HashMap<>(keeper.environment());
        List<String> ofOtherJvms = List.of("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS");
        ofOtherJvms.forEach(name -> environment.put(name, "-Xnonsense"));
        environment.put("LC_ALL", "C");
        String script = "exec 9>" + own + "; exec \"$ZKLOCK\" run /a sh -c 'echo pid $$; read -r x'";
        try (RunningZkLock zklock = RunningZkLock.script(folder, environment, "bash", script)) {
            long pid = zklock.number("pid");
            List<String> ofTheCommand = descriptors(pid);
            List<String> ofTheKeeper = descriptors(keeper.pid());
            assertThat(ofTheCommand).anyMatch(each -> each.endsWith("descriptor-of-the-script"));
            assertThat(ofTheCommand.stream().filter(ofTheKeeper::contains))
                    .filteredOn(each -> !each.equals("/dev/null"))
                    .isEmpty();
            assertThat(Files.readString(keeper.file("environment")))
                    .doesNotContain(ofOtherJvms)
                    .contains("LC_ALL=C.UTF-8\n");
            zklock.in().close();
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(1);
        }
    }

    /** They may be files that a shell has opened, as those of options may be. */
    @Test
    @Tag("H271")
    void filesThatVariablesName_areOpenForTheKeeper() throws IOException, InterruptedException {
        keeper.starting("cat \"$ZKLOCK_AUTH_FILE\" \"$ZKLOCK_CONFIG\" >named");
        String script = "ZKLOCK_AUTH_FILE=<(echo of the shell) ZKLOCK_CONFIG=/dev/stdin $ZKLOCK run /a true <<<input";
        try (RunningZkLock zklock = keeper.script("bash", script)) {
            assertThat(zklock.awaitExit()).as(zklock.err()).isZero();
            assertThat(keeper.file("named")).hasContent("of the shell\ninput");
        }
    }

    private static List<String> descriptors(long pid) throws IOException {
        try (Stream<Path> all = Files.list(Path.of("/proc", String.valueOf(pid), "fd"))) {
            return all.map(each -> {
                        try {
                            return Files.readSymbolicLink(each).toString();
                        } catch (IOException e) {
                            return "closed";
                        }
                    })
                    .toList();
        }
    }

    @Test
    void killedKeeper_isALoss() throws IOException, InterruptedException {
        try (RunningZkLock zklock = keeper.zklock("run", "/a", "sh", "-c", OBEDIENT)) {
            long pid = zklock.number("pid");
            RunningZkLock.signal("KILL", keeper.pid());
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(76);
            assertThat(RunningZkLock.runs(pid)).isFalse();
            assertThat(zklock.out()).contains("told");
            assertThat(zklock.err()).contains("has ended (signal 9); the command is being ended");
        }
    }

    @Test
    void killedKeeper_leavesACommandRunningThatMayOutliveItsLock() throws IOException, InterruptedException {
        try (RunningZkLock zklock =
                keeper.zklock("run", "--on-lost=ignore", "/a", "sh", "-c", "echo pid $$; read -r x; exit 5")) {
            zklock.number("pid");
            RunningZkLock.signal("KILL", keeper.pid());
            zklock.awaitErr("has ended (signal 9); the command continues");
            zklock.in().close();
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(5);
        }
    }

    /** Nobody could tell it of a loss. */
    @Test
    void keeperThatStandsStill_isALoss() throws IOException, InterruptedException {
        keeper.upon("go", "grant 1").upon("ask", "if [ -e still ]; then kill -s STOP $$; else echo +alive; fi");
        try (RunningZkLock zklock = keeper.zklock("run", "/a", "sh", "-c", OBEDIENT)) {
            long pid = zklock.number("pid");
            Files.createFile(keeper.file("still"));
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(76);
            assertThat(RunningZkLock.runs(pid)).isFalse();
            assertThat(zklock.out()).contains("told");
            assertThat(zklock.err()).containsPattern("has not answered for [0-9.]+ s; the command is being ended");
            RunningZkLock.awaitGone(keeper.pid());
        }
    }

    // ---- its clock, which stands still unless the test moves it

    private RunningZkLock byTheClock(String arguments) throws IOException, InterruptedException {
        setClock(1000);
        return with(CLOCK, keeper.environment(), "exec \"$ZKLOCK\" " + arguments);
    }

    private void setClock(double now) throws IOException {
        Path next = Files.writeString(folder.resolve("next"), String.valueOf(now));
        Files.move(next, folder.resolve("clock"), StandardCopyOption.ATOMIC_MOVE);
    }

    /** Moves the clock, and waits until the launcher has looked at it and judged. */
    private void moveClock(double now) throws IOException {
        setClock(now);
        Path readings = folder.resolve("readings");
        Files.write(readings, new byte[0], StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING);
        await().atMost(RunningZkLock.LIMIT)
                .until(() -> Files.readAllLines(readings).stream()
                                .filter(String.valueOf(now)::equals)
                                .count()
                        >= 3);
    }

    /** Both were stopped, as Ctrl-Z or a hibernation does, and the launcher is the first to go on. */
    @Test
    void launcherThatStoodStill_isNoReasonToEndTheCommand() throws IOException, InterruptedException {
        keeper.upon("go", "grant 0.4").upon("ask", "until [ -e answer ]; do sleep 0.1; done; echo +alive");
        try (RunningZkLock zklock = byTheClock("run /a sh -c 'echo pid $$; read -r x; exit 5'")) {
            zklock.number("pid");
            moveClock(1001);
            keeper.awaitHeard("ask");
            moveClock(1100);
            Files.createFile(keeper.file("answer"));
            zklock.in().close();
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(5);
            assertThat(zklock.err()).isEmpty();
        }
    }

    @Test
    void questionThatStopAnswered_isNoneOfTheNextTerm() throws IOException, InterruptedException {
        keeper.upon("go", "grant 0.4")
                .upon("ask", "if [ -e next ]; then echo +alive; else echo +stop; fi")
                .upon(
                        "over",
                        "case $rest in *again) echo +again; until [ -e next ]; do sleep 0.1; done; grant 0.4 ;;"
                                + " *) echo \"+end $rest\"; exit ;; esac");
        try (RunningZkLock zklock = byTheClock("lead /a sh -c 'echo term; read -r x; exit 5'")) {
            zklock.awaitOut("term\n");
            moveClock(1001);
            keeper.awaitHeard("over");
            for (int i = 2; i < 8; i++) {
                moveClock(1000 + i);
            }
            Files.createFile(keeper.file("next"));
            zklock.awaitOut("term\nterm\n");
            zklock.signal("TERM");
            assertThat(zklock.awaitExit()).isEqualTo(143);
            assertThat(zklock.err()).doesNotContain("has not answered");
        }
    }

    // ---- what a loss ends

    @Test
    void loss_endsTheCommandAndWhatItHasStarted_evenIfThatIgnoresTermOrLeavesTheGroup()
            throws IOException, InterruptedException {
        String deaf = "sh -c 'trap \"\" TERM; echo deaf $$; while :; do sleep 0.1; done' & ";
        String orphan = "(sh -c 'echo orphan $$; while :; do sleep 0.1; done' &) ; ";
        String away = "setsid sh -c 'trap \"\" TERM; echo away $$; while :; do sleep 0.1; done' & ";
        try (RunningZkLock zklock =
                keeper.zklock("run", "--grace=5", "/a", "sh", "-c", deaf + orphan + away + OBEDIENT)) {
            long[] all = {zklock.number("deaf"), zklock.number("orphan"), zklock.number("away"), zklock.number("pid")};
            keeper.lose();
            zklock.awaitExit();
            assertThat(zklock.out()).contains("told");
            for (long pid : all) {
                assertThat(RunningZkLock.runs(pid)).as(zklock.out()).isFalse();
            }
            assertThat(keeper.heard()).endsWith("ending", "over 3");
        }
    }

    /** It is killed, because it blocks all other signals until it begins. */
    @Test
    void commandWhoseLockIsLostBeforeItBegins_neverRuns() throws IOException, InterruptedException {
        keeper.upon("target", "printf '+watched\\n+stop\\n'");
        try (RunningZkLock zklock = keeper.zklock("run", "/a", "sh", "-c", "echo ran; sleep 1000")) {
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(137);
            assertThat(zklock.out()).isEmpty();
            assertThat(keeper.heard()).endsWith("ending", "over 137");
        }
    }

    @Test
    void commandIgnoringTerm_isKilledAfterTheGrace() throws IOException, InterruptedException {
        try (RunningZkLock zklock = keeper.zklock("run", "--grace=0.5", "/a", "sh", "-c", DEAF)) {
            long pid = zklock.number("pid");
            keeper.lose();
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(137);
            assertThat(ProcessHandle.of(pid)).isEmpty();
        }
    }

    /** The deaf one is killed when its parent has gone, so that it becomes a child of zklock, which does not reap it. */
    @Test
    void deadButUnreapedProcess_isNotWaitedFor() throws IOException, InterruptedException {
        String deaf = "sh -c 'trap \"\" TERM; echo deaf $$; while :; do sleep 0.1; done' & ";
        try (RunningZkLock zklock = RunningZkLock.startAsReaper(
                folder, keeper.environment(), "run", "--grace=5", "/a", "sh", "-c", deaf + OBEDIENT)) {
            zklock.number("deaf");
            zklock.number("pid");
            keeper.lose();
            assertThat(zklock.awaitExit()).as(zklock.err()).isEqualTo(3);
            assertThat(zklock.err()).doesNotContain("still running");
        }
    }

    /**
     * The filler sleeps only when the pipe is full. The shell writes nothing there: it would say what has ended its
     * children, and wait for a reader.
     */
    @Test
    void fullStandardError_keepsNeitherTheCommandNorTheLock() throws IOException, InterruptedException {
        String fill = "cat /dev/zero >&2 & echo filler $!; exec 2>/dev/null; ";
        try (RunningZkLock zklock =
                RunningZkLock.startUnread(folder, keeper.environment(), "run", "/a", "sh", "-c", fill + OBEDIENT)) {
            long filler = zklock.number("filler");
            zklock.number("pid");
            await().atMost(RunningZkLock.LIMIT)
                    .until(() -> zklock.unread() > 1000
                            && RunningZkLock.state(filler).startsWith("S"));
            keeper.lose();
            await().until(() -> !zklock.isAlive()); // else it waits for a reader, for ever
            assertThat(zklock.awaitExit()).isEqualTo(3);
            assertThat(keeper.heard()).endsWith("over 3");
        }
    }

    @Test
    void lossOfTheOuterLock_endsTheInnerZkLockAndItsCommand() throws IOException, InterruptedException {
        ScriptedKeeper inner = new ScriptedKeeper(Files.createDirectory(folder.resolve("inner")));
        String command = "JAVA_HOME='" + inner.environment().get("JAVA_HOME")
                + "' \"$ZKLOCK\" run /b sh -c \"echo inner \\$\\$; while :; do sleep 0.1; done\"";
        try (RunningZkLock zklock = keeper.zklock("run", "/a", "sh", "-c", command)) {
            long pid = zklock.number("inner");
            keeper.lose();
            zklock.awaitExit();
            RunningZkLock.awaitGone(pid);
            inner.awaitHeard("over 143");
        }
    }

    /** What the keeper runs when the launcher is gone. */
    @ParameterizedTest
    @ValueSource(strings = {"group", "tree"})
    void end_endsATarget(String kind) throws IOException, InterruptedException {
        String deaf = "sh -c 'trap \"\" TERM; echo deaf $$; while :; do sleep 0.1; done' & ";
        Path out = folder.resolve("out");
        Process target = new ProcessBuilder("setsid", "sh", "-c", deaf + OBEDIENT)
                .redirectOutput(out.toFile())
                .start();
        await().atMost(RunningZkLock.LIMIT)
                .until(() -> Files.readString(out).matches("(?s)(?=.*deaf \\d+\n)(?=.*pid \\d+\n).*"));
        String stat = Files.readString(Path.of("/proc", String.valueOf(target.pid()), "stat"));
        String since = stat.replaceAll(".*\\) ", "").split(" ")[19];
        long deafOne = Long.parseLong(Files.readString(out).replaceAll("(?s).*deaf (\\d+)\n.*", "$1"));
        try (RunningZkLock end = RunningZkLock.start(
                folder,
                keeper.environment(),
                "--end",
                "5",
                kind,
                String.valueOf(target.pid()),
                kind.equals("group") ? "0" : since,
                "0")) {
            assertThat(end.awaitExit()).as(end.err()).isZero();
            assertThat(RunningZkLock.runs(target.pid())).isFalse();
            assertThat(RunningZkLock.runs(deafOne)).isFalse();
            assertThat(Files.readString(out)).contains("told");
        } finally {
            target.descendants().forEach(ProcessHandle::destroyForcibly);
            target.destroyForcibly();
        }
    }

    /** To kill(2), the group 0 is that of the caller. It has a group of its own here, for the case that it is ended. */
    @Test
    void end_ofNothing_endsNothing() throws IOException, InterruptedException {
        String script = "setsid sh -c '\"$ZKLOCK\" --end 0 group 0 0 0; echo \"code $?\"' & wait $!";
        try (RunningZkLock zklock = RunningZkLock.script(folder, keeper.environment(), "bash", script)) {
            assertThat(zklock.awaitExit()).as(zklock.err()).isZero();
            assertThat(zklock.out()).isEqualTo("code 0\n");
        }
    }

    /** What the keeper of {@code hold --on-lost=ignore} runs when the launcher is gone. It sleeps between its looks. */
    @Test
    void await_endsWhenNobodyHasThePipeOpenForReading() throws IOException, InterruptedException {
        String noted = "*CORE::GLOBAL::sleep = sub { open my $looks, '>>', \"$ENV{FOLDER}/looks\"; print $looks '.';"
                + " close $looks; select undef, undef, undef, 0.05 };";
        String script = """
                cd "$FOLDER"
                mkfifo fifo
                reader() { sh -c 'exec 9<>fifo; sh -c "exec sleep 1000" 9<&- & echo $! >>left; >up$0; exec sleep 1000' $1 & }
                reader 1; first=$!
                reader 2; second=$!
                until [ -e up1 ] && [ -e up2 ]; do sleep 0.1; done
                "$ZKLOCK" --await "$(perl -e 'print join ":", (stat "fifo")[0, 1]')" & await=$!
                kill $first; wait $first
                >looks
                until [ "$(wc -c <looks)" -ge 3 ] || ! kill -0 $await; do sleep 0.1; done
                kill -0 $await && echo waits
                kill $second; wait $await; echo "code $?"
                kill $(cat left)
                """;
        try (RunningZkLock zklock = with(noted, keeper.environment(), script)) {
            assertThat(zklock.awaitExit()).as(zklock.err()).isZero();
            assertThat(zklock.out()).isEqualTo("waits\ncode 0\n");
        }
    }
}
