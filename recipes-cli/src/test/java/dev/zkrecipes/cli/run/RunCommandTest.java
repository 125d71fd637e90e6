// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.cli.Ran;
import dev.zkrecipes.cli.connect.ConnectOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class RunCommandTest {
    private static LockingOptions parsed(String... words) {
        LockingOptions options = new LockingOptions(new ConnectOptions(Map.of()), Launcher.ofThisJvm());
        new CommandLine(new RunCommand(options))
                .setStopAtPositional(true)
                .setExpandAtFiles(false)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .parseArgs(words);
        return options;
    }

    private static Settings settings(String line) {
        LockingOptions options = parsed(Words.split(line));
        return RunCommand.settings(options, options.words());
    }

    private static List<String> command(String... words) {
        List<String> rest = parsed(words).words();
        RunCommand.settings(parsed(words), rest);
        return rest;
    }

    @Test
    void pathAndCommand_areEnough() {
        Settings settings = settings("/locks/a make");
        assertThat(settings.lock()).isEqualTo(new LockChoice(LockChoice.Mode.MUTEX, List.of("/locks/a"), 1, 1));
        assertThat(settings.patience()).isEmpty();
        assertThat(settings.conflictCode()).isEqualTo(1);
        assertThat(settings.onLost()).isEqualTo(Settings.Reaction.TERM);
        assertThat(settings.onRevoke()).isEqualTo(Settings.Reaction.IGNORE);
        assertThat(settings.grace()).isEqualTo(Duration.ofSeconds(10));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "/a -- sh -c 'x -n'        | sh,-c,x -n",
                "/a sh -n -w 5 --limit     | sh,-n,-w,5,--limit",
                "-- /a make                | make",
                "-n /a -- make -- all      | make,--,all",
                "/a echo @file -- --help   | echo,@file,--,--help",
                "--all /a,/b make          | make",
                "--all /a,/b -- make       | make",
                "--all=/a --all=/b -- make | make",
            })
    void wordsAfterThePath_belongToTheCommand(String line, String command) {
        assertThat(String.join(",", command(Words.split(line)))).isEqualTo(command);
    }

    @Test
    void flocksSpelling_isUnderstood() {
        assertThat(settings("-s /a make").lock().mode()).isEqualTo(LockChoice.Mode.SHARED);
        assertThat(settings("--exclusive /a make").lock().mode()).isEqualTo(LockChoice.Mode.EXCLUSIVE);
        assertThat(settings("/a make").lock().mode()).isEqualTo(LockChoice.Mode.MUTEX);
        assertThat(settings("-n /a make").patience()).hasValue(Duration.ZERO);
        assertThat(settings("--nonblock -E 75 /a make").conflictCode()).isEqualTo(75);
        assertThat(settings("-w 0.25 /a make").patience()).hasValue(Duration.ofMillis(250));
        assertThat(settings("--timeout 0.25 /a make").patience()).hasValue(Duration.ofMillis(250));
        assertThat(settings("-w 0 /a make").patience()).hasValue(Duration.ZERO);
        assertThat(settings("--permits 2 --limit 3 /a make").lock())
                .isEqualTo(new LockChoice(LockChoice.Mode.SEMAPHORE, List.of("/a"), 2, 3));
        assertThat(settings("-s --all /a,/b make").lock())
                .isEqualTo(new LockChoice(LockChoice.Mode.SHARED, List.of("/a", "/b"), 1, 1));
        assertThat(settings("--on-lost=ignore --on-revoke=term --grace 1.5 /a make")
                        .grace())
                .isEqualTo(Duration.ofMillis(1500));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "-x -s /a make                     | -x is exclusive and -s is shared: give one of them",
                "--mutex /a make                   | Unknown option: '--mutex'",
                "-n -w 5 /a make                   | -n does not wait and -w does: give one of them",
                "-w -1 /a make                     | option '--wait': '-1' is not a number of seconds",
                "--wait -1 /a make                 | option '--wait': '-1' is not a number of seconds",
                "--timeout -1 /a make              | option '--timeout': '-1' is not a number of seconds",
                "-w                                | Missing required parameter for option '--wait'",
                "-w 1 -w 2 /a make                 | option '--wait' (SECONDS) should be specified only once",
                "-w --timeout /a make              | option '--wait' but found '--timeout'",
                "--timeout 2 -w 1 /a make          | --timeout is another name of -w: give one of them",
                "-w soon /a make                   | give one from 0 to 2147483, such as 10 or 0.5",
                "-E 9 /a make                      | -E needs a limit on the wait: add -n or -w",
                "-n -E 256 /a make                 | -E is 256, must be 0 to 255",
                "-n -E -1 /a make                  | -E is -1, must be 0 to 255",
                "-n -E x /a make                   | option '--conflict-exit-code'",
                "--permits 2 /a make               | --permits is for a semaphore: add --limit",
                "--limit 0 /a make                 | --limit is 0, must be 1 or more",
                "--limit 3 --permits 4 /a make     | --permits is 4, must be 1 to 3",
                "--limit 3 --permits 0 /a make     | --permits is 0, must be 1 to 3",
                "--limit 3 -s /a make              | leave -s out",
                "--limit 3 -x /a make              | leave -x out",
                "--all /a make                     | --all takes several paths",
                "--all /a,/a make                  | --all names /a twice",
                "--all /a,/b --all /c,/a make      | --all names /a twice",
                "--all=/a --all=/a make            | --all names /a twice",
                "--all /a,b make                   | --all: 'b' is not the path of a lock",
                "--all '/a, /b' make               | --all: ' /b' is not the path of a lock",
                "--all /a,/b/ make                 | --all: '/b/' is not the path of a lock",
                "--all /a,/b, make                 | --all has an empty path",
                "--all ,/a,/b make                 | --all has an empty path",
                "--all /a,,/b make                 | --all has an empty path",
                "--all , make                      | --all has an empty path",
                "--all '' make                     | --all has an empty path",
                "--all= make                       | --all has an empty path",
                "--all /a,/b --all= make           | --all has an empty path",
                "--all /a,/b                       | the command is missing",
                "--on-lost=kill /a make            | '--on-lost'",
                "--on-revoke= /a make              | '--on-revoke'",
                "--on-lost=ignore --grace 1 /a x   | --grace is only for a command that may be ended",
                "--grace x /a make                 | not a number of seconds",
                "make                              | 'make' is not the path of a lock",
                "/a/ make                          | '/a/' is not the path of a lock",
                "/a                                | the command is missing: add what to run after PATH",
                "/a --                             | the command is missing",
                "-n /a -c 'echo ran'               | there is no -c COMMAND as in flock: write sh -c 'COMMAND'",
                "-n                                | the path of the lock is missing",
                "--what /a make                    | Unknown option",
                "-n -n /a make                     | should be specified only once",
                "-w NaN /a make                    | 'NaN' is not a number of seconds",
                "-w 1e9 /a make                    | '1e9' is not a number of seconds",
                "-w 1000000000 /a make             | give one from 0 to 2147483",
                "-w '' /a make                     | '' is not a number of seconds",
                "--grace -1 /a make                | '-1' is not a number of seconds",
                "--limit 3000000000 /a make        | '3000000000' is not an int",
                "--limit many /a make              | 'many' is not an int",
                "--limit 3 --permits x /a make     | 'x' is not an int",
                "--session-timeout 0 /a make       | --session-timeout is 0.000, must be 0.100 or more",
                "--session-timeout 0.0001 /a make  | --session-timeout is 0.000, must be 0.100 or more",
                "--session-timeout x /a make       | 'x' is not a number of seconds",
                "--label '' /a make                | --label: owner label \"\" must have 1 to 200 characters",
                "--auth nobody /a make             | --auth: SCHEME:ID is malformed",
                "--auth-file /none /a make         | --auth-file: the file /none does not exist",
                "--config /none /a make            | --config: /none does not exist",
                "--config= /a make                 | --config: the name of the file is empty",
                "--auth-file '' /a make            | --auth-file: the name of the file is empty",
                "--auth= /a make                   | --auth: SCHEME:ID is malformed",
                "--acl= /a make                    | --acl: ''",
                "--connect= /a make                | should be specified only once",
                "--label x --label y /a make       | option '--label' (TEXT) should be specified only once",
                "-nw5 /a make                      | -n does not wait and -w does",
                "-n5 /a make                       | Unknown option: '-5'",
                "-s --permits 2 /a make            | --permits",
                "--all /a,/b --permits 2 make      | --permits",
                "-w inf /a make                    | 'inf' is not a number of seconds",
                "-w 1e300 /a make                  | '1e300' is not a number of seconds",
                "/a/../b make                      | '/a/../b' is not the path of a lock",
                "-- -n /a make                     | '-n' is not the path of a lock",
                "--label ' ' /a make               | --label: owner label",
                "--config /dev /a make             | --config: /dev cannot be read",
                "--acl nobody /a make              | --acl: 'nobody' is not SCHEME:ID:PERMS",
                "--acl creator /a make             | --acl creator needs credentials",
                "--acl world:anyone:x /a make      | --acl: 'world:anyone:x' is not SCHEME:ID:PERMS, with letters of cdrwa",
                "--connect x --connect y /a make   | should be specified only once",
                "'' make                           | '' is not the path of a lock",
                "//a make                          | '//a' is not the path of a lock",
            })
    void wrongCommandLine_isExplainedAndNothingIsSent(String line, String complaint) throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                    .configureBlocking(false);
            String servers = "127.0.0.1:" + server.socket().getLocalPort();
            Ran ran = Ran.zklock(Stream.concat(Stream.of("run", "--connect", servers), Stream.of(Words.split(line)))
                    .toArray(String[]::new));
            assertThat(ran.code()).as(ran.err()).isEqualTo(64);
            assertThat(ran.err().lines().skip(1)).containsExactly("Try 'zklock run --help'.");
            assertThat(ran.err()).startsWith("zklock: ").contains(complaint).hasSizeLessThan(1_200);
            assertThat(ran.out()).isEmpty();
            assertThat(server.accept()).as("a connection").isNull();
        }
    }

    @Test
    void emptyCommand_isRefused() {
        assertThatThrownBy(() -> command("/a", "")).hasMessageContaining("the command is missing");
    }

    @Test
    void valueOfAnyLength_isQuotedInALine() {
        Ran ran = Ran.zklock(
                "run", "--connect", "127.0.0.1:1", "--label", "x".repeat(100_000) + "\u001b[31m", "/a", "make");
        assertThat(ran.code()).isEqualTo(64);
        assertThat(ran.err())
                .startsWith("zklock: --label: ")
                .hasSizeLessThan(1_200)
                .doesNotContain("\u001b");
    }
}
