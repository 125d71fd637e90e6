// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.ZooKeeperClient;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code zklock demo}: reads and checks the options, and runs the demo. */
@Command(
        name = "demo",
        header = "Shows the recipes at work among processes.",
        customSynopsis = {
            "zklock demo [-h] [--workers=N] [--seconds=N]",
            "                   [--connect=HOSTS [--tick=MS]] [RECIPE]"
        },
        description = {
            "Worker processes share files under a lock, without any other protection. One of them is killed (kill -9) while "
                    + "it holds. The verdict is checked against the files.",
            ""
        },
        subcommands = {DemoServerCommand.class, WorkerCommand.class},
        sortOptions = false,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all checks passed",
            "1:a check failed",
            "64:the command line is wrong",
            "69:no server answered",
            "70:the demo could not continue",
            "130:interrupted with Ctrl-C; nothing is left behind"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  zklock demo",
            "  zklock demo semaphore --workers=8 --seconds=30",
            "  zklock demo --connect=zk1:2181/test"
        })
public final class DemoCommand implements Callable<Integer> {
    private static final int DEFAULT_TICK = 2000;
    private static final int INTERRUPTED = 130;

    @Spec
    private CommandSpec spec;

    @Parameters(
            arity = "0..1",
            paramLabel = "RECIPE",
            defaultValue = "mutex",
            converter = RecipeName.class,
            description = "What to show: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    private DemoRecipe recipe = DemoRecipe.MUTEX;

    @Option(
            names = "--workers",
            paramLabel = "N",
            defaultValue = "4",
            description = "Number of worker processes, 2 to 20. Default: ${DEFAULT-VALUE}.")
    private int workers;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "15",
            description =
                    "How long they work, 5 to 3600. The start and the end come on top, and a take-over that is late "
                            + "is waited for. Default: ${DEFAULT-VALUE}.")
    private int seconds;

    @Option(
            names = "--connect",
            paramLabel = "HOSTS",
            description =
                    "Use this ensemble, host:port[,host:port]...[/chroot], below a path of its own that is removed at "
                            + "the end. Default: a server process of its own.")
    private @Nullable String connect;

    @Option(
            names = "--tick",
            paramLabel = "MS",
            description = "tickTime of the ensemble of --connect, part of the limit for the take-over. Default: "
                    + DEFAULT_TICK + ", as ZooKeeper's own.")
    private @Nullable Integer tick;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help message and exit.")
    @SuppressWarnings("UnusedVariable") // the command line acts on it by itself
    private boolean help;

    /** For picocli. */
    public DemoCommand() {}

    /**
     * Runs the demo.
     *
     * @return the exit code
     * @throws IOException if there is no room for temporary files, or no process can be started
     * @throws InterruptedException if the thread is interrupted
     */
    @Override
    public Integer call() throws IOException, InterruptedException {
        DemoOptions options = options();
        Page page = new Page(System.out, TerminalColour.isWanted(System.getenv()));
        try {
            return new Demo(options, page).run().isPassed() ? ExitCode.OK : ExitCode.SOFTWARE;
        } catch (CancellationException e) {
            return INTERRUPTED;
        } catch (NoServerException e) {
            throw new LockConnectionException(String.valueOf(e.getMessage()), e);
        }
    }

    /** Checks the command line. */
    DemoOptions options() {
        between(
                "--workers",
                workers,
                DemoOptions.LEAST_WORKERS,
                DemoOptions.MOST_WORKERS,
                "one is killed, another takes over");
        between("--seconds", seconds, DemoOptions.LEAST_SECONDS, DemoOptions.MOST_SECONDS, "a take-over must fit in");
        String hosts = connect;
        if (hosts != null) {
            try {
                ZooKeeperClient.builder().connectString(hosts);
            } catch (IllegalArgumentException e) {
                throw new ParameterException(spec.commandLine(), "--connect: " + e.getMessage(), e);
            }
        }
        Integer millis = tick;
        if (millis != null) {
            if (hosts == null) {
                throw wrong("--tick belongs to --connect; the demo's own server has a tick of "
                        + DemoServerCommand.TICK.toMillis() + " ms");
            }
            between("--tick", millis, 1, 60_000, "milliseconds");
        }
        Duration ownTick = hosts == null ? DemoServerCommand.TICK : Duration.ofMillis(DEFAULT_TICK);
        return new DemoOptions(
                recipe,
                workers,
                Duration.ofSeconds(seconds),
                Optional.ofNullable(hosts),
                millis == null ? ownTick : Duration.ofMillis(millis));
    }

    private void between(String option, int value, int least, int most, String why) {
        if (value < least || value > most) {
            throw wrong(option + " is " + value + ", must be " + least + " to " + most + " (" + why + ")");
        }
    }

    private ParameterException wrong(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
