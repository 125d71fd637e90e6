// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A test of the launcher beside a {@link ScriptedKeeper}, with a folder of its own. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class ScriptedKeeperStage {
    @TempDir
    Path folder;

    ScriptedKeeper keeper;

    @BeforeEach
    void scriptKeeper() throws IOException {
        keeper = new ScriptedKeeper(folder);
    }
}
