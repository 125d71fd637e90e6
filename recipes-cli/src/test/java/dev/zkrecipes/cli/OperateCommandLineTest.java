// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.core.ClientClosedException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

/** What the command line of lead, ls, revoke, break, server, bench and completion refuses, before anything is sent. */
class OperateCommandLineTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "ls                                       | Missing required parameter: 'PATH'",
                "ls /a                                    | no server is named: give --connect",
                "ls /a /b                                 | '/b' is one argument too many",
                "ls a --connect x                         | 'a' is not the path of a lock",
                "ls /a/ --connect x                       | is not the path of a lock",
                "ls /a --connect a,,b                     | malformed connect string",
                "ls /a --connect x --watch=yes            | --watch",
                "ls /a --connect x --json --grace 1       | --grace",
                "ls /a --connect x --session-timeout 9    | Unknown options: '--session-timeout'",
                "break /a --connect x --acl open          | Unknown options: '--acl'",
                "doctor --connect x --session-timeout a   | 'a' is not a number of seconds",
                "ls /a --connect x --recursiv             | --recursiv",
                "lead --connect x                         | the path of the lock is missing",
                "lead --connect x /a                      | the command is missing: add what to run after PATH",
                "lead --connect x -n /a b                 | Unknown option: '-n'",
                "lead --connect x --limit 2 /a b          | Unknown option: '--limit'",
                "lead --connect x --on-lost=ignore /a b   | Unknown option: '--on-lost=ignore'",
                "lead --connect x --pause soon /a b       | 'soon' is not a number of seconds",
                "lead --connect x --once --pause 1 /a b   | --pause is for the next term",
                "revoke --connect x                       | Missing required parameter: 'PATH'",
                "revoke /a                                | no server is named",
                "revoke /a --connect x --grace soon       | 'soon' is not a number of seconds",
                "revoke /a --connect x --grace -1         | '-1' is not a number of seconds",
                "revoke /a --connect x --grace            | --grace",
                "revoke /a --connect x --wait 1h          | '1h' is not a number of seconds",
                "revoke /a --connect x --grace 1 --wait 2 | --grace and --wait exclude each other",
                "revoke /a --connect x --yes              | --yes",
                "revoke /a --connect x --node             | --node",
                "break --connect x                        | Missing required parameter: 'PATH'",
                "break /a                                 | no server is named",
                "break /a --connect x --grace 3           | --grace",
                "break a --connect x --yes                | 'a' is not the path of a lock",
                "doctor                                   | no server is named",
                "doctor a --connect x                     | 'a' is not the path of a lock",
                "doctor /a --connect x --json             | --json",
                "server --port 65536                      | --port is 65536, must be 1 to 65535, or 0",
                "server --port -1                         | --port is -1",
                "server --port many                       | --port",
                "server --data pom.xml                    | --data pom.xml is not a folder: give another one",
                "server --connect x                       | --connect",
                "server /a                                | /a",
                "bench                                    | no server is named",
                "bench a --connect x                      | 'a' is not the path of a lock",
                "bench /a /b --connect x                  | /b",
                "bench --connect x --seconds 0            | --seconds is 0.000, must be 0.010 to 3600",
                "bench --connect x --seconds 3601         | --seconds is 3601.000, must be 0.010 to 3600",
                "bench --connect x --seconds -1           | '-1' is not a number of seconds",
                "bench --connect x --seconds NaN          | 'NaN' is not a number of seconds",
                "bench --connect x --clients 1            | --clients is 1, must be 2 to 200",
                "bench --connect x --clients 201          | --clients is 201, must be 2 to 200",
                "bench --connect x --clients many         | --clients",
                "bench --connect x --json=yes             | --json",
                "server --data=                           | --data: the name of the folder is empty",
                "revoke /a --connect x --node=            | --node has an empty name",
                "break /a --connect x --node=             | --node has an empty name",
                "completion fish                          | fish",
            })
    void wrongCommandLine_isExplainedWithExitCode64(String line, String complaint) {
        Ran ran = Ran.zklock(line.strip().split(" +"));
        assertThat(ran.code()).as(ran.err()).isEqualTo(64);
        assertThat(ran.err()).startsWith("zklock: ").contains(complaint).contains("--help'");
        assertThat(ran.out()).isEmpty();
    }

    @Test
    void folderThatCannotBeMade_isExplained() {
        Ran ran = Ran.zklock("server", "--port", "0", "--data", "pom.xml/data");
        assertThat(ran.code()).isEqualTo(1);
        assertThat(ran.err())
                .startsWith("zklock: --data pom.xml/data cannot be used: ")
                .doesNotContain("Exception")
                .hasLineCount(1);
    }

    @Test
    void helpOfHold_namesNoCommand() {
        assertThat(Ran.zklock("hold", "--help").out())
                .contains("end what runs under it")
                .doesNotContain("the command");
    }

    @Test
    void help_namesTheLimitOfTheWait_asFlockDoes() {
        assertThat(Ran.zklock("run", "--help").out()).contains(" -w, --wait=SECONDS ", " --timeout ");
        assertThat(Ran.zklock("lead", "--help").out()).doesNotContain("--wait", "--timeout");
    }

    /** The hook of the JVM has closed it. */
    @Test
    void clientThatIsClosedMeanwhile_isASignal() {
        assertThat(ExitCodes.message(new ClientClosedException("closed"))).isEqualTo("ended by a signal");
    }

    static Stream<String> commands() {
        return ZkLock.commandLine().getSubcommands().values().stream()
                .filter(command -> !command.getCommandSpec().usageMessage().hidden())
                .map(CommandLine::getCommandName)
                .filter(name -> !name.equals("help"));
    }

    @ParameterizedTest
    @MethodSource("commands")
    void helpOfEveryCommand_hasExamples_andFitsTheTerminal(String command) {
        Ran ran = Ran.zklock(command, "--help");
        assertThat(ran.code()).isZero();
        assertThat(ran.out()).contains("Examples:\n", "  zklock " + command);
        assertThat(ran.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80));
    }

    @ParameterizedTest
    @MethodSource("commands")
    void listOfCommands_hasALineForEach(String command) {
        assertThat(Ran.zklock("--help").lines()).anyMatch(line -> line.matches("  " + command + " +[A-Z].*\\."));
    }
}
