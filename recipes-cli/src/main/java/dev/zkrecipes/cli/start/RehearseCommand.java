// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.start;

import dev.zkrecipes.test.EmbeddedZooKeeper;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * Runs what is to start quickly on a server in this JVM, so that {@code -XX:ArchiveClassesAtExit} finds its classes loaded:
 * the build makes {@code zklock.jsa} with it.
 */
@Command(name = "rehearse", hidden = true, description = "Loads what zklock run needs, for the build.")
public final class RehearseCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    /** Made by the command line. */
    public RehearseCommand() {}

    /**
     * Runs {@code true} under a lock.
     *
     * @return the exit code
     */
    @Override
    public Integer call() {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start()) {
            return spec.root().commandLine().execute("run", "--connect", server.connectString(), "/rehearsal", "true");
        }
    }
}
