// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.bench;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.cli.connect.LockPathConverter;
import dev.zkrecipes.cli.connect.Seconds;
import dev.zkrecipes.cli.text.Json;
import dev.zkrecipes.cli.text.Page;
import dev.zkrecipes.cli.text.Page.Colour;
import dev.zkrecipes.cli.text.PlainText;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZKUtil;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code zklock bench}: measures what a lock costs on the user's own servers.
 *
 * <p>It opens several sessions, and repeats one kind of task after another below a path that only it uses. The main
 * thread directs the tasks, which run on threads of their own. A lost connection ends the bench with an error. At the
 * end it removes the path, even if a signal ends the JVM.
 */
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
    /**
     * How long to wait for a lock. No task holds one nearly as long, so a longer wait means that a server is too
     * slow.
     */
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private static final int DIGITS = 3;
    private static final int INDENT = 2;
    static final String HEAD =
            String.format("%-37s %7s %11s %11s %10s", "MEASURED", "TIMES", "MEDIAN", "P99", "PER SECOND");

    /** What is measured. */
    enum Measured {
        CREATE("node created: one round trip"),
        MUTEX("mutex: acquire and release"),
        SEMAPHORE("semaphore: acquire and release 1 of 3"),
        MULTI_LOCK("multi-lock: acquire and release all 3"),
        HAND_OVER("hand-over to another session"),
        CONTENDED("all sessions want one mutex");

        private final String title;

        Measured(String title) {
            this.title = title;
        }

        /** Returns the name in JSON. */
        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    private final List<Object> measured = new ArrayList<>();
    private final List<ZooKeeperClient> sessions = new ArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final CountDownLatch done = new CountDownLatch(1);
    private volatile boolean signalled;
    private String place = "";

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

    BenchCommand() {}

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
        place = (path.equals("/") ? "" : path) + "/zklock-bench-"
                + UUID.randomUUID().toString().substring(0, 8);
        try {
            while (sessions.size() < clients) {
                sessions.add(connection.open(builder, ConnectOptions.CONNECT_LIMIT));
            }
            boolean removed;
            try {
                measure();
            } finally {
                threads.shutdownNow();
                boolean unused = Uninterruptibles.awaitTerminationUninterruptibly(threads, END_LIMIT);
                close(sessions.subList(1, clients)); // their remaining nodes are deleted with the sessions
                removed = isRemoved(sessions.get(0));
            }
            return removed ? ExitCodes.OK : ExitCodes.NO_SERVER;
        } catch (InterruptedException | ExecutionException e) {
            if (signalled) {
                return ExitCodes.SIGNALLED; // the JVM ends with its own code for the signal
            }
            throw e.getCause() instanceof LockException known ? known : new IllegalStateException(e);
        } finally {
            close(sessions);
            done.countDown();
        }
    }

    private ParameterException wrong(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    /** Runs as a shutdown hook: interrupts the measurement, and lets the JVM end once the nodes are removed. */
    private void end(Thread worker) {
        signalled = true;
        worker.interrupt();
        boolean unused = Uninterruptibles.awaitUninterruptibly(done, END_LIMIT.multipliedBy(2));
    }

    /** Measures one thing after another, until all are measured or nobody reads the output any more. */
    private void measure() throws InterruptedException, ExecutionException {
        PrintWriter out = spec.commandLine().getOut();
        Page page = Page.of(out);
        ZooKeeperClient session = sessions.get(0);
        int timeout = session.zooKeeper().map(ZooKeeper::getSessionTimeout).orElse(0);
        if (!json) {
            page.show(
                    PlainText.of(connection.servers()) + ", session time-out "
                            + Seconds.show(Duration.ofMillis(timeout)) + " s, " + Seconds.show(window) + " s each, "
                            + clients + " sessions, below " + place,
                    INDENT);
            page.show(Colour.BOLD, HEAD.length(), HEAD, INDENT);
        }
        mutex(0, "mutex").acquire().close(); // creates the path, which create() needs
        InterProcessLock semaphore = new InterProcessSemaphore(session, place + "/semaphore", 3).permits(1);
        InterProcessLock multi =
                new InterProcessMultiLock(session, List.of(place + "/multi-1", place + "/multi-2", place + "/multi-3"));
        InterProcessLock from = mutex(0, "hand-over");
        InterProcessLock to = mutex(1, "hand-over");
        List<Callable<Long>> all = IntStream.range(0, clients)
                .mapToObj(each -> cycle(mutex(each, "contended")))
                .toList();
        boolean unused = row(page, Measured.CREATE, List.of(this::create))
                && row(page, Measured.MUTEX, List.of(cycle(mutex(0, "mutex"))))
                && row(page, Measured.SEMAPHORE, List.of(cycle(semaphore)))
                && row(page, Measured.MULTI_LOCK, List.of(cycle(multi)))
                && row(page, Measured.HAND_OVER, List.of(() -> handOver(from, to)))
                && row(page, Measured.CONTENDED, all);
        if (json) {
            Map<String, Object> figures = new LinkedHashMap<>();
            figures.put("servers", connection.servers());
            figures.put("path", place);
            figures.put("sessionTimeoutMillis", timeout);
            figures.put("windowMillis", window.toMillis());
            figures.put("sessions", clients);
            figures.put("measured", measured);
            out.println(Json.of(figures));
        }
    }

    private InterProcessLock mutex(int session, String name) {
        return new InterProcessMutex(sessions.get(session), place + "/" + name);
    }

    /**
     * Measures some tasks at the same time, and reports the figures. Each task measures itself, and returns the
     * nanoseconds that count.
     *
     * @return whether anybody still reads the output
     */
    private boolean row(Page page, Measured what, List<Callable<Long>> tasks)
            throws InterruptedException, ExecutionException {
        repeat(tasks, window.dividedBy(3)); // warms up the compiler and the server
        Histogram nanos = repeat(tasks, window);
        long times = nanos.getTotalCount();
        long median = nanos.getValueAtPercentile(50);
        long p99 = nanos.getValueAtPercentile(99);
        double rate = tasks.size() * 1e9 / nanos.getMean(); // each session repeats its task without a pause
        if (!json) {
            page.show(row(what, times, median, p99, rate), INDENT);
        }
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("name", what.toString());
        figures.put("times", times);
        figures.put("medianMicros", median / 1_000);
        figures.put("p99Micros", p99 / 1_000);
        figures.put("perSecond", Math.round(rate));
        measured.add(figures);
        return !spec.commandLine().getOut().checkError();
    }

    /** Formats a line of the table. The times are in nanoseconds. */
    static String row(Measured what, long times, long median, long p99, double rate) {
        return String.format(
                Locale.ROOT, "%-37s %7d %8.3f ms %8.3f ms %10.1f", what.title, times, median / 1e6, p99 / 1e6, rate);
    }

    /** Repeats each task on a thread of its own for some time, and at least once. */
    private Histogram repeat(List<Callable<Long>> tasks, Duration time)
            throws InterruptedException, ExecutionException {
        Histogram times = new ConcurrentHistogram(DIGITS);
        List<Callable<Boolean>> loops = new ArrayList<>();
        for (Callable<Long> task : tasks) {
            loops.add(() -> {
                long begin = System.nanoTime();
                do {
                    times.recordValue(task.call());
                } while (System.nanoTime() - begin < time.toNanos());
                return true;
            });
        }
        for (Future<Boolean> loop : threads.invokeAll(loops)) {
            loop.get();
        }
        return times;
    }

    /**
     * Measures the creation of a node, the write that every acquire needs. The deletion that follows is not measured.
     */
    private long create() throws InterruptedException {
        ZooKeeper zooKeeper = sessions.get(0)
                .zooKeeper()
                .orElseThrow(() -> new LockConnectionException("the session is over: measure again"));
        List<ACL> acl = connection.acl();
        try {
            long begin = System.nanoTime();
            String node = zooKeeper.create(place + "/create-", new byte[0], acl, CreateMode.EPHEMERAL_SEQUENTIAL);
            long nanos = System.nanoTime() - begin;
            zooKeeper.delete(node, -1);
            return nanos;
        } catch (KeeperException e) {
            throw new LockConnectionException("no node can be created: " + e.getMessage(), e);
        }
    }

    /** Returns a task that acquires and releases a lock, and measures both together. */
    private static Callable<Long> cycle(InterProcessLock lock) {
        return () -> {
            long begin = System.nanoTime();
            lock.tryAcquire(LIMIT).orElseThrow(BenchCommand::tooSlow).close();
            return System.nanoTime() - begin;
        };
    }

    /**
     * Measures the time from the release in one session to the grant in another, which already waits in the queue.
     */
    private static long handOver(InterProcessLock from, InterProcessLock to)
            throws InterruptedException, ExecutionException {
        try (Lease lease = from.tryAcquire(LIMIT).orElseThrow(BenchCommand::tooSlow)) {
            CompletableFuture<Lease> next = to.acquireAsync();
            while (!next.isDone() && to.participants().size() < 2) {
                Thread.onSpinWait();
            }
            long begin = System.nanoTime();
            var unused = lease.closeAsync();
            Lease granted = next.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
            long nanos = System.nanoTime() - begin;
            granted.close();
            return nanos;
        } catch (TimeoutException e) {
            throw tooSlow();
        }
    }

    private static LockConnectionException tooSlow() {
        return new LockConnectionException("no lock within " + LIMIT.toSeconds() + " s, though nobody held it: "
                + "the connection was lost, or the servers are too slow to be measured");
    }

    /** Closes sessions, all at the same time, because ZooKeeper's client takes a while to close each of them. */
    private static void close(List<ZooKeeperClient> sessions) {
        List<Thread> closers = sessions.stream()
                .map(session -> new Thread(session::close, "closes a session"))
                .toList();
        closers.forEach(Thread::start);
        closers.forEach(Uninterruptibles::joinUninterruptibly);
    }

    /**
     * Removes the nodes of the bench, in a new session if the old one has expired. A failure is reported here rather
     * than thrown, so that it does not hide an earlier error.
     */
    private boolean isRemoved(ZooKeeperClient session) throws InterruptedException {
        Thread.interrupted(); // the interrupt was meant for the measurement, not for this clean-up
        long begin = System.nanoTime();
        String why = "no answer within " + END_LIMIT.toSeconds() + " s";
        while (System.nanoTime() - begin < END_LIMIT.toNanos()) {
            boolean connected = session.awaitConnected(Duration.ofSeconds(1));
            Optional<ZooKeeper> handle = session.zooKeeper().filter(any -> connected);
            try {
                if (handle.isPresent()
                        && (handle.get().exists(place, false) == null
                                || ZKUtil.deleteRecursive(handle.get(), place, 100))) {
                    return true;
                }
            } catch (KeeperException e) {
                why = e.getMessage();
                TimeUnit.MILLISECONDS.sleep(100);
            }
        }
        spec.commandLine()
                .getErr()
                .println("zklock: " + place + " could not be removed (" + why
                        + "): if it is still there, delete it with everything below it");
        return false;
    }
}
