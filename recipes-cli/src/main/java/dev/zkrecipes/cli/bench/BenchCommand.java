// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.bench;

import com.google.common.collect.ImmutableMap;
import com.google.common.util.concurrent.Uninterruptibles;
import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.cli.connect.LockPathConverter;
import dev.zkrecipes.cli.connect.Seconds;
import dev.zkrecipes.cli.text.Json;
import dev.zkrecipes.cli.text.PlainText;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZKUtil;
import org.apache.zookeeper.ZooKeeper;
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
    private static final Duration SHORTEST = Duration.ofMillis(10);
    private static final Duration LONGEST = Duration.ofHours(1);
    private static final Duration END_LIMIT = Duration.ofSeconds(10);
    private static final String ROW = "%-38s %7s %12s %12s %11s%n";

    private final List<Object> measured = new ArrayList<>();
    private final CountDownLatch done = new CountDownLatch(1);
    private volatile boolean signalled;

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
    private int clients = 8;

    @Option(names = "--json", description = "Print one line of JSON at the end.")
    private boolean json;

    /** Made by picocli. */
    public BenchCommand() {}

    /**
     * Measures.
     *
     * @return the exit code
     * @throws InterruptedException if the thread is interrupted
     */
    @Override
    public Integer call() throws InterruptedException {
        if (clients < 2 || clients > 200) {
            throw wrong("--clients is " + clients + ", must be 2 to 200");
        }
        if (window.compareTo(SHORTEST) < 0 || window.compareTo(LONGEST) > 0) {
            throw wrong("--seconds is " + Seconds.show(window) + ", must be " + Seconds.show(SHORTEST) + " to "
                    + LONGEST.toSeconds());
        }
        ZooKeeperClientBuilder builder = connection.client();
        Thread worker = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> end(worker), "zklock bench ends"));
        try {
            return measure(builder) ? ExitCodes.OK : ExitCodes.NO_SERVER;
        } catch (InterruptedException | ExecutionException e) {
            if (signalled) {
                return ExitCodes.SIGNALLED; // the JVM ends with its own code for the signal
            }
            throw e.getCause() instanceof LockException known ? known : new IllegalStateException(e);
        } finally {
            done.countDown();
        }
    }

    private ParameterException wrong(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    /** Ctrl-C, TERM and HUP interrupt the work, and the JVM ends when the work has cleaned up. */
    private void end(Thread worker) {
        signalled = true;
        worker.interrupt();
        boolean unused = Uninterruptibles.awaitUninterruptibly(done, END_LIMIT.multipliedBy(2));
    }

    /** Returns whether nothing is left. */
    private boolean measure(ZooKeeperClientBuilder builder) throws InterruptedException, ExecutionException {
        List<ZooKeeperClient> sessions = new ArrayList<>();
        try {
            while (sessions.size() < clients) {
                sessions.add(connection.open(builder, ConnectOptions.CONNECT_LIMIT));
            }
            String place = (path.equals("/") ? "" : path) + "/zklock-bench-"
                    + UUID.randomUUID().toString().substring(0, 8);
            int timeout = sessions.get(0)
                    .zooKeeper()
                    .map(ZooKeeper::getSessionTimeout)
                    .orElse(0);
            boolean removed;
            try (LockBench bench = new LockBench(sessions, place, connection.acl(), window)) {
                PrintWriter out = spec.commandLine().getOut();
                if (!json) {
                    out.printf(
                            "%s, session time-out %s s, %s s each, %d sessions, below %s%n",
                            PlainText.of(connection.servers()),
                            Seconds.show(Duration.ofMillis(timeout)),
                            Seconds.show(window),
                            clients,
                            place);
                    out.printf(ROW, "MEASURED", "TIMES", "MEDIAN", "P99", "PER SECOND");
                }
                bench.run(this::row);
                if (json) {
                    out.println(Json.of(ImmutableMap.of(
                            "servers",
                            connection.servers(),
                            "path",
                            place,
                            "sessionTimeoutMillis",
                            timeout,
                            "windowMillis",
                            window.toMillis(),
                            "sessions",
                            clients,
                            "measured",
                            measured)));
                }
            } finally {
                close(sessions.subList(1, clients)); // with the nodes that they still have
                removed = isRemoved(place, sessions.get(0));
            }
            return removed;
        } finally {
            close(sessions);
        }
    }

    /** Returns whether anybody still reads. */
    private boolean row(String name, String title, Histogram nanos, int sessions) {
        long times = nanos.getTotalCount();
        long median = TimeUnit.NANOSECONDS.toMicros(nanos.getValueAtPercentile(50));
        long p99 = TimeUnit.NANOSECONDS.toMicros(nanos.getValueAtPercentile(99));
        double rate = sessions * 1e9 / nanos.getMean(); // each session begins again at once
        measured.add(ImmutableMap.of(
                "name", name, "times", times, "medianMicros", median, "p99Micros", p99, "perSecond", Math.round(rate)));
        PrintWriter out = spec.commandLine().getOut();
        if (!json) {
            out.printf(
                    ROW,
                    title,
                    times,
                    millis(median),
                    millis(p99),
                    String.format(Locale.ROOT, rate < 10 ? "%.1f" : "%.0f", rate));
        }
        return !out.checkError();
    }

    private static String millis(long micros) {
        return String.format(Locale.ROOT, "%.3f ms", micros / 1e3);
    }

    /** All at once, since ZooKeeper's client takes a while for each. */
    private static void close(List<ZooKeeperClient> sessions) {
        List<Thread> closers = sessions.stream()
                .map(session -> new Thread(session::close, "closes a session"))
                .toList();
        closers.forEach(Thread::start);
        closers.forEach(Uninterruptibles::joinUninterruptibly);
    }

    /** Removes the node, in a new session if the old one has expired. */
    private boolean isRemoved(String place, ZooKeeperClient session) throws InterruptedException {
        Thread.interrupted(); // which was to end the measurement
        long begin = System.nanoTime();
        String why = "no answer within " + END_LIMIT.toSeconds() + " s";
        while (System.nanoTime() - begin < END_LIMIT.toNanos()) {
            if (session.awaitConnected(Duration.ofSeconds(1))
                    && session.zooKeeper().isPresent()) {
                try {
                    ZooKeeper zooKeeper = session.zooKeeper().get();
                    if (zooKeeper.exists(place, false) == null || ZKUtil.deleteRecursive(zooKeeper, place, 100)) {
                        return true;
                    }
                } catch (KeeperException e) {
                    why = e.getMessage();
                    TimeUnit.MILLISECONDS.sleep(100);
                }
            }
        }
        spec.commandLine()
                .getErr()
                .println("zklock: " + place + " could not be removed (" + why
                        + "): if it is still there, delete it with everything below it");
        return false;
    }
}
