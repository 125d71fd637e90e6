// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.RunningZkLock;
import dev.zkrecipes.cli.Tool;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code zklock run} at a real terminal, which {@code script} of util-linux makes, with a {@link ScriptedKeeper}. */
class RunTerminalTest {
    private static final Map<String, String> KEYS = Map.of("interrupt", "\003", "quit", "\034");

    @TempDir
    private Path folder;

    @BeforeEach
    void requireATerminal() {
        Tool.SCRIPT.require();
        Tool.BASH.require();
    }

    /** A terminal with a command in it. */
    private static final class Terminal implements AutoCloseable {
        private final Process process;
        private final Thread reader;
        private final StringBuilder shown = new StringBuilder();

        Terminal(ScriptedKeeper keeper, String command) throws IOException {
            // The terminal stays open until all of it was read: `script` may drop what is written just before the end.
            String stays = "trap : INT QUIT; " + command + "\necho \"ENDED $?\"; exec sleep 1000";
            ProcessBuilder builder = new ProcessBuilder("script", "-qec", stays, "/dev/null").redirectErrorStream(true);
            RunningZkLock.prepare(builder.environment(), keeper.environment());
            builder.environment().put("TERM", "dumb");
            process = builder.start();
            reader = new Thread(this::read, "reads the screen");
            reader.setDaemon(true);
            reader.start();
        }

        void type(String keys) throws IOException {
            OutputStream keyboard = process.getOutputStream();
            keyboard.write(keys.getBytes(StandardCharsets.US_ASCII));
            keyboard.flush();
        }

        void awaitScreen(String pattern) {
            await().atMost(RunningZkLock.LIMIT)
                    .failFast(
                            "the terminal is closed",
                            () -> assertThat(reader.isAlive() || shows(pattern))
                                    .as(() -> "screen: " + screen())
                                    .isTrue())
                    .until(() -> shows(pattern));
        }

        /** Waits for the end of the command, and returns its exit code. */
        int awaitExit() {
            awaitScreen("ENDED \\d+\r\n");
            return Integer.parseInt(screen().replaceAll("(?s).*ENDED (\\d+)\r\n.*", "$1"));
        }

        private boolean shows(String pattern) {
            return java.util.regex.Pattern.compile(pattern).matcher(screen()).find();
        }

        private synchronized void append(char c) {
            shown.append(c);
        }

        synchronized String screen() {
            return shown.toString();
        }

        private void read() {
            try (Reader output = new BufferedReader(process.inputReader(StandardCharsets.UTF_8))) {
                for (int c = output.read(); c >= 0; c = output.read()) {
                    append((char) c);
                }
            } catch (IOException | UncheckedIOException e) {
                // The terminal is closed.
            }
        }

        @Override
        public void close() {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    /**
     * A script at a terminal, into which keys are typed once it shows KEYS: with {@code flock} it shows the same. The
     * one with {@code fg} waits until its read has stopped the job: one that begins just before {@code fg} stops it in
     * the foreground, with {@code flock}, too. The last one reads from a process group that has no parent: before the
     * parent is gone, the read would stop the group.
     */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "env a.b=1 \"$@\" sh -c 'env; echo KEYS' ! grep -e ^a.b -e KEYS          | none",
                "\"$@\" sh -c 'ps -o pgid= -o tpgid= -p $$ >file; echo KEYS'; awk '{ print $1 == $2 }' file | none",
                "\"$@\" sh -c 'read -r x </dev/tty; echo \"got $x\"' >file & until jobs -s ! grep -q .; do sleep 0.1; done; echo KEYS; fg; cat file | words",
                "\"$@\" sh -c 'echo KEYS; read -r x; echo \"got $x\" >&2' ! cat           | words",
                "\"$@\" sh -c 'echo KEYS; exec sleep 1000'; echo went on                  | interrupt",
                "\"$@\" sh -c 'echo KEYS; exec sleep 1000'; echo \"code $?\"             | quit",
                "\"$@\" sh -c 'trap \"echo got; exit\" WINCH; stty cols 77 </dev/tty; while :; do sleep 0.1; done' ! cat; echo KEYS | none",
                "set -m; exec 3<&0; ( S=$BASHPID; { while kill -0 $S 2>&-; do sleep 0.1; done; \"$@\" cat <&3 2>&-; echo >file; } & ); until [ -s file ]; do sleep 1; done; echo KEYS | none",
            })
    @Tag("H116")
    void terminal_isTheCommands_asUnderFlock(String script, String keys) throws IOException, InterruptedException {
        Tool.FLOCK.require();
        assertThat(shown(script, keys, RunningZkLock.LAUNCHER + " run /beside"))
                .isEqualTo(shown(script, keys, "flock " + folder.resolve("lock")));
    }

    private List<String> shown(String script, String keys, String tool) throws IOException, InterruptedException {
        Path file = Files.writeString(
                folder.resolve("script"),
                "ulimit -c 0; cd '" + folder + "'; rm -f file; set -- " + tool + "\n" + script.replace('!', '|')
                        + "\n");
        String bash = String.join(" ", RunningZkLock.interruptible()) + " bash " + (script.contains("fg") ? "-m " : "");
        try (Terminal terminal = new Terminal(new ScriptedKeeper(folder), bash + file)) {
            terminal.awaitScreen("KEYS");
            if (!keys.equals("none")) {
                terminal.type(KEYS.getOrDefault(keys, keys + "\n"));
            }
            terminal.awaitExit();
            return terminal.screen()
                    .replaceAll("line 2: +[0-9]+ +", "")
                    .lines()
                    .map(String::strip)
                    .filter(line -> !line.isEmpty())
                    .sorted()
                    .toList();
        }
    }

    private static String zklock(String arguments) throws IOException, InterruptedException {
        List<String> command = RunningZkLock.commandLine(arguments);
        return String.join(" ", command);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "env TERM=xterm \"$ZKLOCK\" run /a echo ran                  | true",
                "env TERM=dumb \"$ZKLOCK\" run /a echo ran                   | false",
                "env TERM=xterm \"$ZKLOCK\" run /a echo ran 2>&1 ! cat       | false",
                "set -m; env TERM=xterm \"$ZKLOCK\" run /a echo ran & wait $! | false",
            })
    @Tag("H226")
    void wait_saysWhoHoldsTheLock_atATerminalOnly(String line, boolean told) throws IOException, InterruptedException {
        ScriptedKeeper keeper = new ScriptedKeeper(folder)
                .upon("go", "echo '+busy /a, held by x'; echo busy >&3; until [ -e free ]; do sleep 0.1; done; grant");
        String script = line.replace("! cat", "| cat");
        try (Terminal terminal = new Terminal(keeper, script)) {
            terminal.awaitScreen("busy\r\n"); // which the launcher reads no sooner than what it could draw
            if (told) {
                terminal.awaitScreen("(?s)waiting (\\d+) s.*waiting (?!\\1 s)\\d+ s");
            }
            Files.createFile(keeper.file("free"));
            assertThat(terminal.awaitExit()).as(terminal.screen()).isZero();
            String drawn = "\033\\[\\?7lzklock: waiting \\d+ s for /a, held by x\033\\[K\033\\[\\?7h\r\033\\[K";
            assertThat(terminal.screen()).matches(told ? "(?s).*(" + drawn + ")+ran\r\n.*" : "[^\033]*ran\r\n[^\033]*");
            assertThat(keeper.heard()).contains("read");
        }
    }

    @Test
    void interactiveShell_hasTheTerminalAndJobControl() throws IOException, InterruptedException {
        try (Terminal terminal = new Terminal(
                new ScriptedKeeper(folder), zklock("run /terminal env 'PS1=ready> ' bash --norc --noprofile -i"))) {
            terminal.awaitScreen("ready> ");
            terminal.type("ps -o pgid= -o tpgid= -p $$ | awk '{ print ($1 != $2) ? \"has\" : \"lacks\", \"jobs\" }'\n");
            terminal.awaitScreen("(has|lacks) jobs");
            terminal.type("echo $ZKLOCK_PATH; sh -c 'echo in; exec sleep 1000'\n");
            terminal.awaitScreen("\r\n/terminal\r\nin\r\n");
            terminal.type("\003"); // Ctrl-C ends the sleep and nothing else
            terminal.awaitScreen("\\^C[\r\n]+ready> ");
            terminal.type("exit 5\n");
            assertThat(terminal.awaitExit()).as(terminal.screen()).isEqualTo(5);
            assertThat(terminal.screen()).contains("has jobs").doesNotContain("no job control");
        }
    }

    @Test
    void interruptAtTheTerminal_endsTheCommand() throws IOException, InterruptedException {
        try (Terminal terminal =
                new Terminal(new ScriptedKeeper(folder), zklock("run /terminal sh -c 'echo up; exec sleep 1000'"))) {
            terminal.awaitScreen("up\r\n");
            terminal.type("\003");
            assertThat(terminal.awaitExit()).as(terminal.screen()).isEqualTo(130);
        }
    }

    /** The command is a shell that has given the terminal to the job which it runs. */
    @Test
    void loss_bringsTheTerminalBackToTheScript() throws IOException, InterruptedException {
        ScriptedKeeper keeper = new ScriptedKeeper(folder);
        String shell = zklock("run --grace=0.1 /terminal bash --norc --noprofile -i");
        try (Terminal terminal = new Terminal(keeper, shell + "; echo \"code $?\"; read -r x; echo \"got $x\"")) {
            terminal.awaitScreen("bash-");
            terminal.type("sh -c 'echo in the job; exec sleep 1000'\n");
            terminal.awaitScreen("\r\nin the job\r\n");
            keeper.lose();
            terminal.awaitScreen("code 137"); // an interactive shell ignores TERM
            terminal.type("words\n");
            terminal.awaitScreen("got words");
            assertThat(terminal.awaitExit()).isZero();
        }
    }

    @Test
    void jobStoppedAtTheTerminal_continuesInTheForeground() throws IOException, InterruptedException {
        try (Terminal terminal =
                new Terminal(new ScriptedKeeper(folder), "env 'PS1=ready> ' bash --norc --noprofile -i")) {
            terminal.awaitScreen("ready> ");
            terminal.type(zklock("run /terminal sh -c 'echo up; read -r line; echo \"got $line\"; exit 6'") + "\n");
            terminal.awaitScreen("\r\nup\r\n");
            terminal.type("\032"); // Ctrl-Z
            terminal.awaitScreen("Stopped[^>]*ready> ");
            terminal.type("fg\n");
            terminal.type("words\n");
            terminal.awaitScreen("got words");
            terminal.type("echo code $?\n");
            terminal.awaitScreen("code 6");
            terminal.type("exit\n");
            assertThat(terminal.awaitExit()).as(terminal.screen()).isZero();
        }
    }

    /** No shell would continue what the stop key has stopped, as at the terminal of {@code ssh -t}. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "run /a true                                | echo UP >&3",
                "lead /a sh -c 'echo UP; exec sleep 1000'   | grant",
                "hold --on-lost=ignore /a                   | grant; echo UP >&3",
            },
            quoteCharacter = '`')
    @Tag("H297")
    void stopKey_leavesTheOthersAtWork_whereNobodyWouldContinue(String line, String uponGo)
            throws IOException, InterruptedException {
        try (Terminal terminal = new Terminal(new ScriptedKeeper(folder).upon("go", uponGo), zklock(line))) {
            terminal.awaitScreen("UP");
            terminal.type("\032"); // Ctrl-Z
            terminal.type("\003");
            assertThat(terminal.awaitExit()).as(terminal.screen()).isEqualTo(130);
        }
    }

    /** The wait for a lock, and a script under one. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "run /a sh -c 'read -r x; echo \"got $x\"'                              | until [ -e free ]; do sleep 0.1; done; grant",
                "hold /a ! { read -r line; read -r x </dev/tty; echo \"got $x\"; }      | grant",
            },
            quoteCharacter = '`')
    @Tag("H297")
    void stopKey_stopsAJobOfAShell(String line, String uponGo) throws IOException, InterruptedException {
        ScriptedKeeper keeper = new ScriptedKeeper(folder).upon("go", "echo UP >&3; " + uponGo);
        try (Terminal terminal = new Terminal(keeper, "env 'PS1=ready> ' bash --norc --noprofile -i")) {
            terminal.awaitScreen("ready> ");
            terminal.type(zklock("") + line.replace('!', '|') + "\n");
            terminal.awaitScreen("UP\r\n");
            terminal.type("\032");
            terminal.awaitScreen("Stopped[^>]*ready> ");
            terminal.type("fg\n");
            Files.createFile(keeper.file("free"));
            terminal.type("words\n");
            terminal.awaitScreen("got words");
            terminal.type("exit\n");
            assertThat(terminal.awaitExit()).as(terminal.screen()).isZero();
        }
    }
}
