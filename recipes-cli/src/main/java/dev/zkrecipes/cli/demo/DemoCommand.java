// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import dev.zkrecipes.cli.ZkLock;
import dev.zkrecipes.cli.connect.ExitCodes;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code zklock demo}: reads the command line and runs a {@code Demo}. Its hidden sub-command {@code worker} is a
 * worker process of the demo.
 */
@Command(
        name = "demo",
        header = "Shows a lock at work among processes.",
        description = {
            "Four processes share a file under a mutex, without any other protection, on a server of their own. One of them is "
                    + "killed (kill -9) while it holds. A picture shows who held when, and the verdict is that of the files.",
            ""
        },
        subcommands = DemoWorker.class,
        synopsisSubcommandLabel = "",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all checks passed",
            "1:a check failed",
            "64:the command line is wrong",
            "70:the demo could not continue",
            "130:interrupted with Ctrl-C; nothing is left behind"
        },
        footerHeading = "%nExamples:%n",
        footer = {"  zklock demo", "  zklock demo --seconds=30"})
public final class DemoCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "10",
            description =
                    "How long they work, 1 to 600; longer if the take-over comes later. Default: ${DEFAULT-VALUE}.")
    private int seconds;

    DemoCommand() {}

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (seconds < 1 || seconds > 600) {
            throw new ParameterException(spec.commandLine(), "--seconds is " + seconds + ", must be 1 to 600");
        }
        PrintWriter out = spec.commandLine().getOut();
        try {
            boolean passed =
                    new Demo(Duration.ofSeconds(seconds), workerCommand(ZkLock.class, "demo", "worker"), out).run();
            return passed ? ExitCodes.OK : ExitCodes.FAILED;
        } catch (CancellationException e) {
            return ExitCodes.SIGNALLED; // the JVM ends with its own code for the signal
        }
    }

    /**
     * Returns the command that starts a worker: another JVM with the same class path, which is small and starts
     * quickly. Ctrl-C on a terminal is sent to all processes there. The workers ignore it, because the demo itself ends
     * them: a JVM ignores a signal that was already ignored when it was started.
     */
    static List<String> workerCommand(Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>();
        if (Files.isExecutable(Path.of("/bin/sh"))) {
            command.addAll(List.of("/bin/sh", "-c", "trap '' INT HUP; exec \"$0\" \"$@\""));
        }
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        return command;
    }
}
