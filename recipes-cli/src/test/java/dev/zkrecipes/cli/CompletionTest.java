// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompletionTest {
    @TempDir
    private Path folder;

    @Test
    void completion_isAScriptThatBashTakes() throws IOException, InterruptedException {
        Tool.BASH.require();
        Ran ran = Ran.zklock("completion");
        assertThat(ran.code()).isZero();
        Path script = Files.writeString(folder.resolve("zklock"), ran.out());
        assertThat(completed(script, "zklock", "rev")).isEqualTo("revoke\n");
        assertThat(completed(script, "zklock", "ls", "--wa")).isEqualTo("--watch\n");
        assertThat(ran.out()).contains("bashcompinit").doesNotContain("_demo_worker");
    }

    private static String completed(Path script, String... words) throws IOException, InterruptedException {
        String line = "source " + script + "; compopt() { :; }; COMP_WORDS=(" + String.join(" ", words)
                + "); COMP_CWORD=" + (words.length - 1)
                + "; COMP_LINE=\"${COMP_WORDS[*]}\"; COMP_POINT=${#COMP_LINE}; _complete_zklock; printf '%s\\n' \"${COMPREPLY[@]}\"";
        Process bash =
                new ProcessBuilder("bash", "-c", line).redirectErrorStream(true).start();
        String text = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(bash.waitFor()).as(text).isZero();
        return text;
    }
}
