// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParameterException;

class ConnectOptionsTest {
    /** Refused as a connect string, and shown in the refusal: that tells which one was taken. */
    private static final String FROM_OPTION = "option:x";

    private final Map<String, String> environment = new HashMap<>();

    @TempDir
    private Path folder;

    @Command
    private static final class Any {
        @Mixin
        private final ConnectOptions connection;

        Any(Map<String, String> environment) {
            this.connection = new ConnectOptions(environment);
        }
    }

    private ConnectOptions parse(String... args) {
        Any command = new Any(environment);
        new CommandLine(command).parseArgs(args);
        return command.connection;
    }

    private String complaint(String... args) {
        ConnectOptions options = parse(args);
        try {
            var unused = options.client();
        } catch (ParameterException e) {
            return String.valueOf(e.getMessage());
        }
        return "";
    }

    private String file(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text).toString();
    }

    @Test
    void servers_areTakenFromTheCommandLineFirstThenFromTheEnvironment() throws IOException {
        environment.put("ZKLOCK_CONFIG", file("environment", "zookeeper.connect=environment-file:x"));
        assertThat(complaint()).startsWith("$ZKLOCK_CONFIG: zookeeper.connect:").contains("environment-file:x");
        environment.put("ZKLOCK_CONNECT", "environment:x");
        assertThat(complaint()).startsWith("$ZKLOCK_CONNECT:").contains("environment:x");
        String config = file("option", "zookeeper.connect=option-file:x");
        assertThat(complaint("--config", config))
                .startsWith("--config: zookeeper.connect:")
                .contains("option-file:x");
        assertThat(complaint("--config", config, "--connect", FROM_OPTION))
                .startsWith("--connect:")
                .contains(FROM_OPTION);
    }

    @Test
    void fileWithoutAConnectString_leavesItToTheEnvironment() throws IOException {
        environment.put("ZKLOCK_CONNECT", "environment:x");
        assertThat(complaint("--config", file("option", "zookeeper.sasl.client=false")))
                .contains("environment:x");
    }

    @Test
    void missingServer_isExplainedWithAllThreePlaces() {
        environment.put("ZKLOCK_CONNECT", " ");
        assertThat(complaint()).contains("--connect", "$ZKLOCK_CONNECT", "zookeeper.connect");
    }

    @Test
    void completeOptions_areAccepted() throws IOException {
        environment.put("ZKLOCK_AUTH", "digest:nightly:secret");
        String config = file("c", "zookeeper.connect=127.0.0.1:2181/app\nzookeeper.sasl.client=false\n");
        String people = file("p", "# who\n\ndigest:orders:secret\n");
        assertThatCode(() -> parse(
                                "--config",
                                config,
                                "--auth-file",
                                people,
                                "--auth",
                                "ip:127.0.0.1",
                                "--acl",
                                "creator",
                                "--session-timeout",
                                "2.5")
                        .client())
                .doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--session-timeout 0                | --session-timeout is 0.000, must be 0.100 or more",
                "--auth digest                      | --auth: SCHEME:ID is malformed",
                "--auth :x                          | --auth: ",
                "--auth-file /none/such             | --auth-file: the file /none/such does not exist",
                "--auth-file /dev/null              | --auth-file: the file /dev/null contains no credentials",
                "--config /none/such                | --config: /none/such does not exist",
                "--acl creator                      | --acl creator needs credentials",
                "--acl world:anyone                 | is not SCHEME:ID:PERMS",
                "--acl world:anyone:xyz             | is not SCHEME:ID:PERMS, with letters of cdrwa",
                "--acl world:anyone:r               | --acl: ",
                "--acl digest:user:secret:cdrwa     | --acl: ",
            })
    void wrongValue_isExplainedAndNothingIsSent(String line, String complaint) {
        environment.put("ZKLOCK_CONNECT", "127.0.0.1:2181");
        assertThat(complaint(line.strip().split(" +"))).contains(complaint);
    }

    @Test
    void wrongEnvironment_isNamed() throws IOException {
        environment.put("ZKLOCK_CONNECT", "127.0.0.1:2181");
        environment.put("ZKLOCK_AUTH", "digest");
        assertThat(complaint()).startsWith("$ZKLOCK_AUTH: its value, line 1: expected SCHEME:ID");
        environment.remove("ZKLOCK_AUTH");
        environment.put("ZKLOCK_AUTH_FILE", file("a", "digest:user:secret\nsecret\n"));
        assertThat(complaint())
                .startsWith("$ZKLOCK_AUTH_FILE: ")
                .contains("line 2")
                .doesNotContain("secret");
    }

    @ParameterizedTest
    @CsvSource({"--auth-file,digest:user:secret", "--auth-file,# who", "--config,zookeeper.connect=127.0.0.1"})
    void byteOrderMark_isRefused(String option, String text) throws IOException {
        environment.put("ZKLOCK_CONNECT", "127.0.0.1:2181");
        assertThat(complaint(option, file("marked", "\ufeff" + text + "\n")))
                .contains("marked")
                .contains("begins with a byte-order mark: save it as UTF-8 without one")
                .doesNotContain("secret", "\ufeff");
    }

    @Test
    void foreignProperty_isRefused() throws IOException {
        String config = file("c", "zookeeper.connect=127.0.0.1\nuser.home=/tmp\n");
        assertThat(complaint("--config", config)).contains("'user.home' is neither a property of ZooKeeper's client");
    }

    @Test
    void tlsWithoutATlsSocket_isRefused() throws IOException {
        String config = file("c", "zookeeper.connect=127.0.0.1\nzookeeper.client.secure=true\n");
        assertThat(complaint("--config", config)).startsWith("--config ").contains("does not speak TLS");
    }

    @ParameterizedTest
    @CsvSource({"10,10000", "0.5,500", ".25,250", "0,0", "0.0001,1", "2147483,2147483000"})
    void seconds_mayHaveAFraction(String text, long millis) {
        assertThat(new Seconds().convert(text).plusNanos(999_999).toMillis()).isEqualTo(millis);
    }

    @ParameterizedTest
    @CsvSource({"-1", "''", "ten", "1e3", "9999999", "1.2.3", "."})
    void malformedSeconds_areRefused(String text) {
        assertThatThrownBy(() -> new Seconds().convert(text)).hasMessageContaining("such as 10 or 0.5");
    }

    @ParameterizedTest
    @CsvSource({"locks", "/locks/", "//", "/a/../b", "''", "/a\u202eb", "/a\tb"})
    void malformedPath_isRefusedInOneLine(String text) {
        assertThatThrownBy(() -> new LockPathConverter().convert(text))
                .hasMessageContaining("such as /locks/nightly")
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("\n", "\u202e"));
    }
}
