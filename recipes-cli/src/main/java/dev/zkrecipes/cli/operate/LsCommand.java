// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.cli.connect.LockPathConverter;
import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.ZooKeeperClient;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code zklock ls}: shows the holders and waiters of a lock, or all locks below a path, once or after each change.
 * It only reads.
 */
@Command(
        name = "ls",
        header = "Shows who holds a lock and who waits.",
        description = {
            "Shows the queue of a lock in order: who holds and who waits, what each wants, how long ago it queued, its "
                    + "session and owner label. zklock recognises the recipe by its nodes, and says what they do not show. It also "
                    + "shows locks of Apache Curator.",
            ""
        },
        sortOptions = false,
        mixinStandardHelpOptions = true,
        modelTransformer = ConnectOptions.OfExistingNodes.class,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done, even if nobody holds the lock or the path does not exist",
            "64:the command line is wrong; nothing was sent",
            "69:no server could be reached",
            "77:no right to read the path"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  zklock ls /locks/nightly",
            "  zklock ls -r /locks | less",
            "  zklock ls --watch /locks/nightly",
            "  zklock ls --json /locks/nightly | jq -r '.participants[0].owner'",
            "  zklock ls -r --json / | jq '.locks[] | select(.waiting > 10) | .path'"
        })
public final class LsCommand implements Callable<Integer> {
    /** The minimum time between two states, because a busy lock changes faster than anybody can read. */
    private static final Duration PACE = Duration.ofMillis(200);

    /**
     * How often the ages on a screen are updated. A connection that is lost for a shorter time is not worth a message.
     */
    private static final Duration SECOND = Duration.ofSeconds(1);

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss", Locale.ROOT).withZone(ZoneId.systemDefault());

    @Spec
    private CommandSpec spec;

    @Mixin
    private ConnectOptions connection = new ConnectOptions();

    @Parameters(
            paramLabel = "PATH",
            arity = "1",
            converter = LockPathConverter.class,
            description = "The path of a lock; with -r, of a tree of locks.")
    private String path = "/";

    @Option(
            names = {"-r", "--recursive"},
            description =
                    "One line for each lock at the path and below it: whether and by whom it is held, and how many wait.")
    private boolean recursive;

    @Option(
            names = "--watch",
            description =
                    "Show the state again after each change, until Ctrl-C, and how long ago the lock was granted: on a "
                            + "terminal in place of the previous state and each second, otherwise after it.")
    private boolean watch;

    @Option(names = "--json", description = "Print JSON, one line for each state.")
    private boolean json;

    LsCommand() {}

    @Override
    public Integer call() throws InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        try (ZooKeeperClient client = connection.open()) {
            Reads reads = new Reads(client, watch);
            if (watch) {
                watch(client, reads);
            } else {
                Tree tree = Tree.read(reads, path, recursive);
                out.println(String.join(
                        System.lineSeparator(), json ? List.of(JsonPage.of(tree)) : TextPage.of(tree, tree.seen())));
                out.flush();
            }
            return ExitCodes.OK;
        }
    }

    /**
     * Shows each new state until nobody reads the output any more, or a signal ends the process. A lost connection
     * wakes the loop, too, because no watch can report a change until the connection is back.
     */
    private void watch(ZooKeeperClient client, Reads reads) throws InterruptedException {
        Screen screen = new Screen(spec.commandLine().getOut(), !json);
        client.addConnectionListener(state -> reads.wake());
        try {
            Tree tree = Tree.read(reads, path, recursive);
            boolean isRead = show(screen, tree);
            while (isRead) {
                if (reads.awaitChange(SECOND)) {
                    awaitConnected(client, tree);
                    Tree before = tree;
                    tree = Tree.read(reads, path, recursive).after(before);
                    if (!tree.isSameAs(before)) {
                        isRead = show(screen, tree);
                        TimeUnit.NANOSECONDS.sleep(PACE.toNanos());
                    }
                } else if (screen.isDrawn()) {
                    isRead = show(screen, tree);
                }
            }
        } catch (ClientClosedException e) {
            // A signal is ending the process, and the shutdown hook has closed the client.
        }
    }

    private boolean show(Screen screen, Tree tree) {
        if (json) {
            return screen.show(List.of(JsonPage.of(tree)));
        }
        Instant now = screen.isDrawn() ? Instant.now() : tree.seen();
        List<String> lines = new ArrayList<>(TextPage.of(tree, now));
        lines.add(0, TIME.format(now));
        return screen.show(lines);
    }

    /** Waits for a connection, and informs the user if that takes longer than a second. */
    private void awaitConnected(ZooKeeperClient client, Tree shown) throws InterruptedException {
        if (!client.awaitConnected(SECOND)) {
            spec.commandLine()
                    .getErr()
                    .println("zklock: not connected; the state shown here was seen at " + TIME.format(shown.seen())
                            + ", waiting for a server");
            while (!client.awaitConnected(ConnectOptions.CONNECT_LIMIT)) {
                // ZooKeeper's client restores the watches with the connection. Ctrl-C ends the wait.
            }
        }
    }
}
