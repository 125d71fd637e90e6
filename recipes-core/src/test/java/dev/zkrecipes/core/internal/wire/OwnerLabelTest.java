// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OwnerLabelTest {

    private static String decode(String text) {
        return OwnerLabel.decode(text.getBytes(StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "orders-7@host-1", "J\u00fcrgen = chef", "owner=x", "\u4e2d\ud83d\ude80"})
    void label_comesBackAsItWas(String label) {
        assertThat(OwnerLabel.check(label)).isEqualTo(label);
        assertThat(OwnerLabel.decode(OwnerLabel.encode(label))).isEqualTo(label);
    }

    @Test
    void wire_isAVersionLineAndALineForTheOwner() {
        assertThat(new String(OwnerLabel.encode("me"), StandardCharsets.UTF_8)).isEqualTo("zkrecipes 1\nowner=me\n");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", " ", "a\nb", "a\tb", "a\u0000", "a\u007f", "a\u0085", "a\u202eb", "a\u2028b", "a\ud800"})
    void badLabels_areRejectedAndShownSafely(String label) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> OwnerLabel.check(label))
                .withMessageStartingWith("owner label \"")
                .satisfies(e -> assertThat(e.getMessage().codePoints()).allMatch(Printable::isPlain));
    }

    @Test
    void longLabels_areRejected() {
        assertThat(OwnerLabel.check("x".repeat(200))).hasSize(200);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> OwnerLabel.check("x".repeat(201)))
                .withMessageContaining("200");
    }

    @Test
    void defaultLabel_isTheProcessAndPassesTheCheck() {
        String label = OwnerLabel.ofThisProcess();
        assertThat(OwnerLabel.check(label))
                .startsWith(ProcessHandle.current().pid() + "@")
                .hasSizeGreaterThan(3);
    }

    @Test
    @Tag("H102")
    void hostName_isWhatTheSystemSays_thenWhatTheEnvironmentSays(@TempDir Path folder) throws IOException {
        Path missing = folder.resolve("missing");
        Path empty = Files.writeString(folder.resolve("empty"), "\n");
        Path named = Files.writeString(folder.resolve("named"), "  node-7.example \nsecond line\n");
        Path none = Files.writeString(folder.resolve("none"), "(none)\n");
        Path noText = Files.write(folder.resolve("bytes"), new byte[] {(byte) 0xff, (byte) 0xfe});
        Map<String, String> windows = Map.of("COMPUTERNAME", "NODE-8", "HOSTNAME", "other");
        List<Path> files = List.of(missing, empty, none, noText);
        assertThat(HostName.from(List.of(missing, empty, named), windows)).isEqualTo("node-7.example");
        assertThat(HostName.from(files, windows)).isEqualTo("NODE-8");
        assertThat(HostName.from(files, Map.of("HOSTNAME", "node-9"))).isEqualTo("node-9");
        assertThat(HostName.from(files, Map.of())).isEqualTo("localhost");
    }

    @Test
    @Tag("H102")
    @EnabledOnOs(OS.LINUX)
    void defaultLabel_namesTheHost_alsoIfTheShellDoesNot() throws IOException {
        String host = Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        assertThat(OwnerLabel.ofThisProcess()).isEqualTo(ProcessHandle.current().pid() + "@" + host);
    }

    @Test
    void unknownLinesAndDamagedData_areReadAsFarAsPossible() {
        assertThat(decode("zkrecipes 1\nfuture=1\nowner=a=b\nowner=c\n")).isEqualTo("a=b");
        assertThat(decode("zkrecipes 1\nowner=a")).isEqualTo("a");
        assertThat(decode("zkrecipes 1\n")).isEqualTo("unknown");
        assertThat(decode("")).isEqualTo("unknown");
        assertThat(OwnerLabel.decode(null)).isEqualTo("unknown");
        assertThat(OwnerLabel.decode(new byte[] {(byte) 0xff, 'x'})).isEqualTo("\ufffdx");
    }

    @Test
    void dataOfOthers_isShownSafelyIfShort() {
        assertThat(decode("192.0.2.1")).isEqualTo("192.0.2.1");
        assertThat(decode("a\nb")).isEqualTo("a\\u000ab");
        assertThat(decode("zkrecipes 2\nowner=x")).isEqualTo("zkrecipes 2\\u000aowner=x");
        assertThat(decode("x".repeat(201))).isEqualTo("unknown");
        assertThat(decode("zkrecipes 1\nowner=a\rb\u001b")).isEqualTo("a\\u000db\\u001b");
    }

    /** Whatever else stands there is somebody else's. */
    @Test
    void holds_areEightAtMost() {
        List<String> nine = List.of("/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8", "/9");
        assertThat(OwnerLabel.holds(OwnerLabel.withHolds(OwnerLabel.encode("x"), nine)))
                .isEqualTo(nine.subList(0, 8));
    }
}
