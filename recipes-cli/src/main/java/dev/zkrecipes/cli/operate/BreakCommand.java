// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.cli.connect.LockPath;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.Reader;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code zklock break}: takes a lock away from those who hold it. */
@Command(
        name = "break",
        header = "Takes a lock away from those who hold it.",
        description = {
            "Deletes the nodes of those who hold the lock, after asking. The next in the queue gets the lock at "
                    + "once. The holder hears of the loss, at once if it listens for requests, else within a sixth of its session "
                    + "time-out. Until then it works on, beside the next one. So break a lock only if its holder is known to be stopped, "
                    + "or if what it guards checks the fencing token. zklock revoke asks the holder first.",
            ""
        },
        sortOptions = false,
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:the nodes are gone, or nobody held the lock",
            "1:the answer was no; nothing was deleted",
            "64:the command line is wrong, or there was nobody to ask; nothing was deleted",
            "65:it cannot be told who holds it",
            "69:no server in reach",
            "77:no right to read or delete the nodes"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  zklock break /locks/nightly",
            "  zklock break --yes /locks/nightly",
            "  zklock break --node NODE /semaphores/imports"
        })
public final class BreakCommand implements Callable<Integer> {
    private static final Set<String> AGREEMENT = Set.of("y", "yes");

    private final Reader answers;

    @Spec
    private CommandSpec spec;

    @Mixin
    private ConnectOptions connection = new ConnectOptions();

    @Parameters(paramLabel = "PATH", arity = "1", converter = LockPath.class, description = "The path of the lock.")
    private String path = "/";

    @Option(
            names = {"-y", "--yes"},
            description = "Do not ask.")
    private boolean yes;

    @Option(
            names = "--node",
            paramLabel = "NODE",
            description =
                    "Delete this node only, as zklock ls shows it; may be repeated. Default: those of all holders.")
    private List<String> nodes = new ArrayList<>();

    /** Made by the command line. */
    public BreakCommand() {
        this(new InputStreamReader(System.in, Charset.defaultCharset()));
    }

    BreakCommand(Reader answers) {
        this.answers = answers;
    }

    /**
     * Breaks what was asked for.
     *
     * @return the exit code
     * @throws InterruptedException if the thread is interrupted
     * @throws IOException if the answer cannot be read
     */
    @Override
    public Integer call() throws InterruptedException, IOException {
        ZooKeeperClientBuilder builder = connection.client().closeOnShutdown();
        try (ZooKeeperClient client = connection.open(builder, ConnectOptions.CONNECT_LIMIT)) {
            List<Place> targets = Targets.in(LiveTree.look(client, ConnectOptions.CONNECT_LIMIT, path), nodes);
            if (targets.isEmpty()) {
                say(path + ": nobody holds it");
                return ExitCodes.OK;
            }
            if (!yes && !isAgreed(targets)) {
                say("nothing was broken");
                return ExitCodes.FAILED;
            }
            for (Place place : targets) {
                Breaking.Outcome outcome = new Breaking(client, ConnectOptions.CONNECT_LIMIT, path, place).run();
                say(
                        switch (outcome) {
                            case BROKEN -> "deleted the node of " + Targets.describe(place);
                            case GONE -> "the node of " + Targets.describe(place) + " is gone already";
                        });
            }
            return ExitCodes.OK;
        }
    }

    private boolean isAgreed(List<Place> targets) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        out.println("This deletes in the queue of " + path + ":");
        targets.forEach(place -> out.println("  " + Targets.describe(place)
                + (place.holds() ? "" : ", which is not known to hold: it may queue again")));
        out.println(
                targets.stream().anyMatch(Place::holds)
                        ? "The next in the queue gets the lock at once. Who held it hears of the loss, but may work on until then."
                        : "Who holds the lock keeps it.");
        out.print("Break? [y/N] ");
        out.flush();
        String answer = new BufferedReader(answers).readLine();
        if (answer == null) {
            out.println();
            throw new ParameterException(
                    spec.commandLine(),
                    "there is nobody to ask, so nothing was broken: give --yes to break all the same");
        }
        return AGREEMENT.contains(answer.strip().toLowerCase(Locale.ROOT));
    }

    private void say(String line) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(line);
        out.flush();
    }
}
