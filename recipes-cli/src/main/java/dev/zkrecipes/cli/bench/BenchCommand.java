// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.bench;

import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.cli.connect.LockPathConverter;
import dev.zkrecipes.cli.connect.Seconds;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.KeeperException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code zklock bench}: what a lock costs here. */
@Command(
        name = "bench",
        header = "Measures what a lock costs on your servers.",
        description = {
            "Measures the round trip of a write, and then locks: acquiring and releasing one that nobody else wants, handing one "
                    + "over to a waiting session, and many sessions that want the same one. The bench writes as fast as the servers "
                    + "answer, so they have less time for others meanwhile. It removes its nodes, even after Ctrl-C.",
            ""
        },
        sortOptions = false,
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "64:the command line is wrong; nothing was sent",
            "69:no server could be reached, or the connection was lost",
            "77:no right to create nodes at the path"
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  zklock bench",
            "  zklock bench --seconds 10 --clients 32 /locks",
            "  zklock bench --json | jq '.measured[] | {name, medianMicros}'"
        })
public final class BenchCommand implements Callable<Integer> {
    private static final int FEWEST_SESSIONS = 2;
    private static final int MOST_SESSIONS = 200;
    private static final Duration SHORTEST = Duration.ofMillis(10);
    private static final Duration LONGEST = Duration.ofHours(1);
    private static final Duration REMOVAL_LIMIT = Duration.ofSeconds(10);
    private static final String TOO_SLOW = "no lock within " + Task.LIMIT.toSeconds()
            + " s, though nobody held it: the connection was lost, or the servers are too slow to be measured";

    @Spec
    private CommandSpec spec;

    @Mixin
    private ConnectOptions connection = new ConnectOptions();

    @Parameters(
            paramLabel = "PATH",
            arity = "0..1",
            converter = LockPathConverter.class,
            description = "The bench creates a node below this path and removes it afterwards. Default: /.")
    private String path = "/";

    @Option(
            names = "--seconds",
            paramLabel = "SECONDS",
            converter = Seconds.class,
            description = "How long to measure each of six things, after a third of that time to warm up. Default: 2.")
    private Duration window = Duration.ofSeconds(2);

    @Option(
            names = "--clients",
            paramLabel = "N",
            description = "How many sessions want one lock in the last measurement. Default: 8.")
    private int sessions = 8;

    @Option(names = "--json", description = "Print one line of JSON at the end.")
    private boolean json;

    /** For picocli. */
    public BenchCommand() {}

    /**
     * Measures.
     *
     * @return the exit code
     * @throws InterruptedException if a signal ends it
     */
    @Override
    public Integer call() throws InterruptedException {
        requireSense();
        ZooKeeperClientBuilder builder = connection.client();
        try (Interruption interruption = Interruption.ofThisThread(REMOVAL_LIMIT.multipliedBy(2))) {
            try {
                return measure(builder, interruption);
            } catch (InterruptedException e) {
                if (interruption.isBegun()) {
                    return ExitCodes.SIGNALLED; // the JVM ends with its own code for the signal
                }
                throw e;
            }
        } catch (ExecutionException e) {
            throw known(e);
        } catch (TimeoutException e) {
            throw new LockConnectionException(TOO_SLOW, e);
        } catch (KeeperException.NoAuthException e) {
            throw new LockAccessException("no right to create nodes at " + e.getPath() + ": check the credentials", e);
        } catch (KeeperException e) {
            throw new LockConnectionException("the connection was lost during the measurement: " + e.getMessage(), e);
        }
    }

    private static RuntimeException known(ExecutionException error) {
        Throwable cause = error.getCause();
        if (cause instanceof TimeoutException) {
            return new LockConnectionException(TOO_SLOW, cause);
        }
        return cause instanceof LockException known ? known : new IllegalStateException(error);
    }

    private void requireSense() {
        if (sessions < FEWEST_SESSIONS || sessions > MOST_SESSIONS) {
            throw wrong("--clients is " + sessions + ", must be " + FEWEST_SESSIONS + " to " + MOST_SESSIONS);
        }
        if (window.compareTo(SHORTEST) < 0 || window.compareTo(LONGEST) > 0) {
            throw wrong("--seconds is " + Seconds.show(window) + ", must be " + Seconds.show(SHORTEST) + " to "
                    + LONGEST.toSeconds());
        }
    }

    private int measure(ZooKeeperClientBuilder builder, Interruption interruption)
            throws InterruptedException, ExecutionException, TimeoutException, KeeperException {
        List<ZooKeeperClient> clients = new ArrayList<>();
        try {
            while (clients.size() < sessions) {
                clients.add(connection.open(builder, ConnectOptions.CONNECT_LIMIT));
            }
            ZooKeeperClient first = clients.get(0);
            Scratch scratch = Scratch.below(path, first);
            boolean removed;
            try {
                measure(clients, scratch);
            } finally {
                interruption.beginCleaning();
                close(clients.subList(1, clients.size()));
                removed = isRemoved(scratch, first);
            }
            return removed ? ExitCodes.OK : ExitCodes.NO_SERVER;
        } finally {
            close(clients);
        }
    }

    /** All at once, since ZooKeeper's client takes a while for each. */
    private static void close(List<ZooKeeperClient> clients) {
        Executor threads = task -> new Thread(task, "closes a session").start();
        CompletableFuture.allOf(clients.stream()
                        .map(client -> CompletableFuture.runAsync(client::close, threads))
                        .toArray(CompletableFuture<?>[]::new))
                .join();
    }

    private void measure(List<ZooKeeperClient> clients, Scratch scratch)
            throws InterruptedException, ExecutionException, TimeoutException, KeeperException {
        PrintWriter out = spec.commandLine().getOut();
        Report report = json ? new JsonReport(out) : new TextReport(out);
        Duration timeout = Duration.ofMillis(Scratch.handle(clients.get(0)).getSessionTimeout());
        report.begin(new BenchSetting(connection.servers(), scratch.path(), timeout, window, sessions));
        new LockBench(clients, scratch, connection.acl(), new Stopwatch(window)).run(report);
    }

    /** Reports an error here, so that it does not hide an earlier one. */
    private boolean isRemoved(Scratch scratch, ZooKeeperClient client) throws InterruptedException {
        try {
            scratch.remove(client, REMOVAL_LIMIT);
            return true;
        } catch (LockException | KeeperException e) {
            spec.commandLine()
                    .getErr()
                    .println("zklock: " + scratch.path() + " could not be removed (" + ExitCodes.message(e)
                            + "): if it is still there, delete it with everything below it");
            return false;
        }
    }

    private ParameterException wrong(String message) {
        return new ParameterException(spec.commandLine(), message);
    }
}
