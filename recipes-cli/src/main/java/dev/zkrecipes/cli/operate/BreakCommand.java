// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.cli.operate.PathView.Place;
import dev.zkrecipes.cli.operate.PathView.State;
import dev.zkrecipes.cli.text.PlainText;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.ZooKeeperClient;
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
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code zklock break}: takes a lock away from its holders, by deleting their nodes. It asks the user first, unless
 * the command line says {@code --yes}, and deletes nothing if there is nobody to ask.
 */
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
    private static final int MOST_FAILURES = 5;
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

    BreakCommand() {
        this(new InputStreamReader(System.in, Charset.defaultCharset()));
    }

    BreakCommand(Reader answers) {
        this.answers = answers;
    }

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
                boolean deleted = delete(client, targets.path(), place);
                out.println(
                        deleted
                                ? "deleted the node of " + Targets.describe(place)
                                : "the node of " + Targets.describe(place) + " is gone already");
            }
            return ExitCodes.OK;
        }
    }

    /** Shows which nodes would be deleted, and asks the user. */
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

    /**
     * Deletes the node that was shown to the user and no other node, even if its data have changed since. A node is
     * identified by the transaction that created it. A delete can compare only the version of the data, so this
     * method compares the transaction just before, and then deletes the version that it saw. If the version has
     * changed in between, it looks again.
     *
     * @return false if the node was already gone, or if the answer to a deletion was lost and the node was gone
     *     afterwards
     */
    static boolean delete(ZooKeeperClient client, String lockPath, Place place) throws InterruptedException {
        String path =
                (lockPath.equals("/") ? "/" : lockPath + "/") + place.node().name();
        String shown = PlainText.of(path);
        String doubt = " while deleting " + shown + ": it may or may not be deleted; see zklock ls";
        for (int failures = 0; failures < MOST_FAILURES; ) {
            try {
                ZooKeeper zk = Reads.connected(client, doubt);
                int version = -1; // any version: only the name of an unreadable node is known
                if (place.stat().isPresent()) {
                    Stat now = zk.exists(path, false);
                    if (now == null || now.getCzxid() != place.stat().get().getCzxid()) {
                        return false;
                    }
                    version = now.getVersion();
                }
                zk.delete(path, version);
                return true;
            } catch (KeeperException.NoNodeException e) {
                return false;
            } catch (KeeperException.BadVersionException e) {
                // The data have changed since they were read, or another node has this name by now. The next attempt
                // decides.
            } catch (KeeperException.ConnectionLossException | KeeperException.SessionExpiredException e) {
                failures++;
            } catch (KeeperException.NoAuthException e) {
                throw new LockAccessException("no right to delete " + shown
                        + ": that needs DELETE on the path of the lock; give credentials that have it");
            } catch (KeeperException e) {
                throw new LockException("cannot delete " + shown + ": " + e.code(), e);
            }
        }
        throw new LockConnectionException("the connection was lost again and again" + doubt);
    }

    private static boolean holds(Place place) {
        return place.state() == State.HOLDS;
    }
}
