// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.PathView.Place;
import dev.zkrecipes.core.spi.PathView.State;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.Reader;
import java.nio.charset.Charset;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code zklock break}: takes a lock away from its holders. */
@Command(
        name = "break",
        header = "Takes a lock away from its holders.",
        description = {
            "Deletes the nodes of the holders, after asking. The next in the queue gets the lock at once. A holder that "
                    + "listens for requests hears of the loss at once, any other within a sixth of its session time-out. Until "
                    + "then it keeps working, beside the next one. So break a lock only if you know that its holder is stopped, "
                    + "or if what the lock protects checks the fencing token. zklock revoke asks the holder first.",
            ""
        },
        sortOptions = false,
        mixinStandardHelpOptions = true,
        modelTransformer = ConnectOptions.OfExistingNodes.class,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:the nodes are gone, or nobody held the lock",
            "1:the answer was no; nothing was deleted",
            "64:the command line is wrong, or there was nobody to ask; nothing was deleted",
            "65:zklock cannot tell who holds it",
            "69:no server could be reached",
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

    @Mixin
    private Targets targets = new Targets();

    @Option(
            names = {"-y", "--yes"},
            description = "Do not ask.")
    private boolean yes;

    /** Made by picocli. */
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
        targets.check();
        PrintWriter out = spec.commandLine().getOut();
        try (ZooKeeperClient client = connection.open()) {
            List<Place> places = targets.in(targets.look(client));
            if (places.isEmpty()) {
                out.println(targets.path() + ": nobody holds it");
                return ExitCodes.OK;
            }
            if (!yes && !isAgreed(places)) {
                out.println("nothing was broken");
                return ExitCodes.FAILED;
            }
            for (Place place : places) {
                Breaking breaking = new Breaking(client, targets.path(), place);
                out.println(
                        switch (breaking.run()) {
                            case BROKEN -> "deleted the node of " + Targets.describe(place);
                            case GONE -> "the node of " + Targets.describe(place) + " is gone already";
                        });
            }
            return ExitCodes.OK;
        }
    }

    private boolean isAgreed(List<Place> places) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        out.println("This deletes in the queue of " + targets.path() + ":");
        places.forEach(place -> out.println("  " + Targets.describe(place)
                + (holds(place) ? "" : ", which is not known to hold: it may queue again")));
        out.println(
                places.stream().anyMatch(BreakCommand::holds)
                        ? "The next in the queue gets the lock at once. The holder hears of the loss, but may keep working until then."
                        : "The holder of the lock keeps it.");
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

    private static boolean holds(Place place) {
        return place.state() == State.HOLDS;
    }
}
