// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CleanUpTest {
    private final List<String> undone = new ArrayList<>();
    private final CleanUp cleanUp = CleanUp.atExit(new Page(System.out, false));

    @AfterEach
    void close() {
        cleanUp.close();
    }

    @Test
    void lastThing_isUndoneFirstAndOnce() throws IOException {
        cleanUp.make(() -> "folder", undone::add);
        cleanUp.make(() -> "process", undone::add);
        cleanUp.close();
        cleanUp.close();
        assertThat(undone).containsExactly("process", "folder");
        assertThat(cleanUp.isInterrupted()).isFalse();
    }

    @Test
    void failure_isKeptAndDoesNotStopTheRest() throws IOException {
        cleanUp.make(() -> "folder", undone::add);
        cleanUp.make(() -> "process", process -> {
            throw new IOException("does not end");
        });
        cleanUp.close();
        assertThat(undone).containsExactly("folder");
        assertThat(cleanUp.failures()).containsExactly("does not end");
        assertThat(Check.nothingLeft(cleanUp.failures()).ok()).isFalse();
    }

    @Test
    void afterTheEnd_nothingIsMade() {
        cleanUp.close();
        assertThatThrownBy(() -> cleanUp.make(() -> undone.add("made"), made -> {}))
                .isInstanceOf(CancellationException.class);
        assertThat(undone).isEmpty();
    }

    @Test
    void folder_isRemovedWithItsContents(@TempDir Path parent) throws IOException {
        Path folder = Files.createDirectories(parent.resolve("demo"));
        Files.createDirectories(folder.resolve("server/version-2"));
        Files.writeString(folder.resolve("server/version-2/log.1"), "data");
        DemoFolder.delete(folder);
        assertThat(folder).doesNotExist();
        DemoFolder.delete(folder);
    }
}
