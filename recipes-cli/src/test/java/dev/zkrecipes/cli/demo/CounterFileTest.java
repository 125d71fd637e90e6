// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.cli.demo.CounterFile.Counter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CounterFileTest {
    @TempDir
    private Path folder;

    @Test
    void noFile_countsAsZero() throws IOException {
        assertThat(new CounterFile(folder).read()).isEqualTo(Counter.ZERO);
    }

    @Test
    void writtenCounter_isReadAndNothingElseIsLeft() throws IOException {
        CounterFile file = new CounterFile(folder);
        file.write(Counter.ZERO.next(2048));
        file.write(file.read().next(Long.MAX_VALUE));
        assertThat(file.read()).isEqualTo(new Counter(2, Long.MAX_VALUE));
        assertThat(folder).isDirectoryNotContaining(path -> !path.endsWith("counter"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "7", "7 2048", "seven 2048\n", "7 2048\n\n"})
    void damagedFile_isRefused(String content) throws IOException {
        Files.writeString(folder.resolve("counter"), content);
        assertThatThrownBy(() -> new CounterFile(folder).read())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("is damaged");
    }
}
