// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.zkrecipes.cli.Tool;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@code zklock run} at a real terminal, which {@code script} of util-linux makes. */
class RunTerminalIT {
    @BeforeEach
    void requireATerminal() {
        Tool.SCRIPT.require();
        Tool.BASH.require();
    }

    /** A terminal with a command in it. */
    private static final class Terminal implements AutoCloseable {
        private final Process process;
        private final StringBuilder shown = new StringBuilder();

        Terminal(String connect, String command) throws IOException {
            ProcessBuilder builder =
                    new ProcessBuilder("script", "-qec", command, "/dev/null").redirectErrorStream(true);
            builder.environment().put("ZKLOCK_CONNECT", connect);
            builder.environment().put("TERM", "dumb");
            process = builder.start();
            Thread reader = new Thread(this::read, "reads the screen");
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
                            () -> assertThat(process.isAlive() || shows(pattern))
                                    .as(() -> "screen: " + screen())
                                    .isTrue())
                    .until(() -> shows(pattern));
        }

        int awaitExit() throws InterruptedException {
            assertThat(process.waitFor(RunningZkLock.LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .as(() -> "ended; screen: " + screen())
                    .isTrue();
            return process.exitValue();
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

    private static String zklock(String arguments) throws IOException, InterruptedException {
        List<String> command = RunningZkLock.commandLine(arguments);
        return String.join(" ", command);
    }

    @Test
    void interactiveShell_hasTheTerminalAndJobControl() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                Terminal terminal = new Terminal(
                        server.connectString(), zklock("run /terminal env 'PS1=ready> ' bash --norc --noprofile -i"))) {
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
            assertThat(server.children("/terminal")).isEmpty();
        }
    }

    @Test
    void interruptAtTheTerminal_endsTheCommand() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                Terminal terminal = new Terminal(
                        server.connectString(), zklock("run /terminal sh -c 'echo up; exec sleep 1000'"))) {
            terminal.awaitScreen("up\r\n");
            terminal.type("\003");
            assertThat(terminal.awaitExit()).as(terminal.screen()).isEqualTo(130);
            assertThat(server.children("/terminal")).isEmpty();
        }
    }

    @Test
    void jobStoppedAtTheTerminal_continuesInTheForeground() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                Terminal terminal =
                        new Terminal(server.connectString(), "env 'PS1=ready> ' bash --norc --noprofile -i")) {
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

    /** As when a user's whole session gets TERM. The command may have reasons to continue. */
    @Test
    void signalToTheKeeper_doesNotEndTheLockBeforeTheCommand() throws IOException, InterruptedException {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                Terminal terminal = new Terminal(
                        server.connectString(),
                        zklock("run /terminal sh -c 'echo keeper $PPID.; read -r line; echo \"got $line\"; exit 6'"))) {
            terminal.awaitScreen("keeper \\d+\\.");
            long keeper = Long.parseLong(terminal.screen().replaceAll("(?s).*keeper (\\d+)\\..*", "$1"));
            for (String name : List.of("TERM", "HUP", "QUIT", "USR1", "USR2")) {
                RunningZkLock.signal(name, keeper);
            }
            terminal.type("words\n");
            terminal.awaitScreen("got words");
            assertThat(terminal.awaitExit()).as(terminal.screen()).isEqualTo(6);
        }
    }
}
