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

/** {@code zklock ls}: the holders and waiters of a lock, or the locks below a path. */
@Command(
        name = "ls",
        header = "Shows who holds a lock and who waits.",
        description = {
            "Shows the queue of a lock in order: who holds and who waits, what each asks for, its weight (permits), its age, "
                    + "session and owner label. zklock recognises the recipe by its nodes, and says what they do not show. It also "
                    + "shows locks of Apache Curator.",
            ""
        },
        sortOptions = false,
        mixinStandardHelpOptions = true,
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
    /** The least time between two states: a busy lock changes faster than anybody reads. */
    private static final Duration PACE = Duration.ofMillis(200);

    /** A connection that returns before that is not worth a message. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

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
                    "Show the state again after each change, until Ctrl-C: in place of the previous one on a terminal, otherwise after it.")
    private boolean watch;

    @Option(
            names = "--json",
            description = "Print JSON, one line for each state. Labels are in it as they were written.")
    private boolean json;

    /** For picocli. */
    public LsCommand() {}

    /**
     * Shows what was asked for.
     *
     * @return the exit code
     * @throws InterruptedException if the thread is interrupted
     */
    @Override
    public Integer call() throws InterruptedException {
        PrintWriter out = spec.commandLine().getOut();
        try (ZooKeeperClient client = connection.open()) {
            TreeReader tree = new TreeReader(client, ConnectOptions.CONNECT_LIMIT, path, recursive, watch);
            if (watch) {
                watch(client, tree, screen(out));
            } else {
                out.println(String.join(System.lineSeparator(), lines(tree.read())));
                out.flush();
            }
            return ExitCodes.OK;
        }
    }

    private Screen screen(PrintWriter out) {
        if (json) {
            return new Screen(out, Screen.Manner.LINES);
        }
        return new Screen(out, Terminal.isOutput() ? Screen.Manner.DRAWN : Screen.Manner.BLOCKS);
    }

    private List<String> lines(TreeView view) {
        return json ? List.of(JsonPage.of(view)) : TextPage.of(view);
    }

    private boolean show(Screen screen, TreeView view) {
        List<String> lines = new ArrayList<>(lines(view));
        if (!json) {
            lines.add(0, TIME.format(view.seen()));
        }
        return screen.show(lines);
    }

    /** Runs until nobody reads any more, or a signal ends the process. */
    private void watch(ZooKeeperClient client, TreeReader tree, Screen screen) throws InterruptedException {
        client.addConnectionListener(state -> tree.wake());
        try {
            TreeView before = tree.read();
            boolean isRead = show(screen, before);
            while (isRead) {
                tree.awaitChange();
                awaitConnected(client, before);
                TreeView now = tree.read();
                if (!now.isSameAs(before)) {
                    isRead = show(screen, now);
                    before = now;
                    TimeUnit.NANOSECONDS.sleep(PACE.toNanos());
                }
            }
        } catch (ClientClosedException e) {
            // The shutdown hook has closed the session.
        }
    }

    private void awaitConnected(ZooKeeperClient client, TreeView shown) throws InterruptedException {
        if (!client.awaitConnected(PATIENCE)) {
            spec.commandLine()
                    .getErr()
                    .println("zklock: not connected; the state shown here was seen at " + TIME.format(shown.seen())
                            + ", waiting for a server");
            while (!client.awaitConnected(ConnectOptions.CONNECT_LIMIT)) {
                // The watches return with the connection; Ctrl-C ends the wait.
            }
        }
    }
}
