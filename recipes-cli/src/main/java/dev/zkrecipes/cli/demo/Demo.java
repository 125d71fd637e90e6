// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.zkrecipes.cli.demo.DemoVerdict.Check;
import dev.zkrecipes.cli.demo.Ledger.Entry;
import dev.zkrecipes.cli.demo.Ledger.What;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Help.Ansi;

/**
 * Starts a server and the workers, kills one worker while it holds the lock, waits for another to take over, and prints
 * the verdict. At the end all processes have ended and all files are removed, even if a signal ends the JVM.
 *
 * <p>It runs on the main thread of {@code zklock demo}, and the server runs in the same JVM. The workers are processes
 * of their own; the demo learns from the ledger what they do. Anything that goes wrong with a worker fails one of the
 * checks.
 */
final class Demo {
    static final int WORKERS = 4;
    static final Duration TICK = Duration.ofMillis(500);
    private static final Duration STEP = Duration.ofMillis(5);
    /** How long the victim idles with the lock before it is killed, long enough to be seen in the picture. */
    private static final Duration IDLE = Duration.ofMillis(700);

    private static final Duration START_LIMIT = Duration.ofMinutes(5);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(10);
    private static final Duration AFTERMATH = Duration.ofSeconds(2);
    /** How much time the picture shows before the victim idles, and after the take-over. */
    private static final Duration AROUND = Duration.ofMillis(1500);

    private static final int ATTEMPTS = 5;

    private final Duration time;
    private final List<String> workerCommand;
    private final PrintWriter out;
    private final long begun = System.nanoTime();
    private final List<Entry> entries = new ArrayList<>();
    private final List<String> troubles = new ArrayList<>();
    private final Path folder;
    private final Ledger ledger;
    private final EmbeddedZooKeeper server;

    @GuardedBy("this")
    private final List<Process> workers = new ArrayList<>();

    @GuardedBy("this")
    private boolean closed;

    private volatile boolean interrupted;
    private boolean killed;

    /**
     * Starts the server of a demo that lasts {@code time}, or longer if the take-over is late. {@code workerCommand}
     * starts a worker when the worker's arguments are appended to it.
     */
    Demo(Duration time, List<String> workerCommand, PrintWriter out) throws IOException {
        this.time = time;
        this.workerCommand = workerCommand;
        this.out = out;
        folder = Files.createTempDirectory("zklock-demo-");
        ledger = new Ledger(folder);
        Runtime.getRuntime().addShutdownHook(new Thread(this::interrupt, "ends the demo"));
        synchronized (this) { // a shutdown hook waits until there is a server to close
            server = EmbeddedZooKeeper.builder()
                    .tickTime(TICK)
                    .dataDirectory(folder.resolve("server"))
                    .start();
        }
    }

    /**
     * Runs the demo.
     *
     * @return whether all checks passed
     * @throws CancellationException if a signal is ending the JVM, whose shutdown hook cleans up
     */
    boolean run() throws IOException, InterruptedException {
        List<Check> checks = new ArrayList<>();
        try {
            checks.addAll(play());
        } catch (IOException | IllegalStateException e) {
            requireNoInterrupt(); // once the shutdown hook ends server and workers, errors are to be expected
            throw e;
        } finally {
            close();
        }
        checks.add(check(
                "clean-up",
                Files.exists(folder) ? List.of(folder + " is left") : List.of(),
                "no process and no file is left"));
        draw();
        checks.forEach(
                check -> out.println(Ansi.AUTO.string((check.ok() ? "  @|green ok    |@  " : "  @|bold,red FAILED|@  ")
                        + String.format(Locale.ROOT, "%-9s  %s", check.subject(), check.finding()))));
        long failed = checks.stream().filter(check -> !check.ok()).count();
        out.println(Ansi.AUTO.string(
                failed == 0
                        ? "@|bold,green PASSED|@"
                        : "@|bold,red FAILED: " + failed + " of " + checks.size() + " checks|@"));
        return failed == 0;
    }

    /** Starts the workers, plays the demo, stops the workers, and returns the checks of what has happened. */
    private List<Check> play() throws IOException, InterruptedException {
        ledger.create();
        out.println("zklock demo: " + WORKERS + " processes, a mutex, one kill -9");
        tell("server", "at " + server.connectString() + ", in this process");
        for (int worker = 1; worker <= WORKERS; worker++) {
            List<String> command = new ArrayList<>(workerCommand);
            command.addAll(List.of(String.valueOf(worker), server.connectString(), folder.toString()));
            tell("w" + worker, "process " + start(command));
        }
        while (troubles.isEmpty() && !isOver(System.nanoTime())) {
            hear();
            Optional<Entry> idle = first(What.IDLES);
            if (idle.isPresent() && !killed && System.nanoTime() - idle.get().at() >= IDLE.toNanos()) {
                killed = true;
                if (!kill(worker(DemoWorker.VICTIM))) {
                    troubles.add("w" + DemoWorker.VICTIM + " was killed and is not gone");
                }
                ledger.add(DemoWorker.VICTIM, What.KILLED, "");
            }
            lookAfter(false);
        }
        tell("all", "asked to stop");
        stop();
        List<Check> checks = new ArrayList<>(new DemoVerdict(entries).checks(ledger.count()));
        checks.add(check("processes", troubles, "all ended in order but the one that was killed"));
        checks.add(check("nodes", server.children(DemoWorker.LOCK), "none is left"));
        return checks;
    }

    private static Check check(String subject, List<String> wrong, String fine) {
        return new Check(wrong.isEmpty(), subject, wrong.isEmpty() ? fine : String.join("; ", wrong));
    }

    /** Whether the demo has shown the take-over and has lasted long enough, or no longer has a chance to show it. */
    private boolean isOver(long now) {
        Optional<Entry> kill = first(What.KILLED);
        Optional<Entry> heir = DemoVerdict.heir(entries);
        if (kill.isEmpty()) {
            return now - begun >= START_LIMIT.toNanos();
        }
        if (heir.isEmpty()) {
            return now - kill.get().at()
                    >= DemoVerdict.TAKE_OVER_LIMIT.multipliedBy(2).toNanos();
        }
        long start = first(What.IN).orElseThrow().at();
        return now - start >= time.toNanos() && now - heir.get().at() >= AFTERMATH.toNanos();
    }

    private Optional<Entry> first(What what) {
        return entries.stream().filter(entry -> entry.what() == what).findFirst();
    }

    /** Waits a moment, and then reads the new entries of the ledger and reports the important ones. */
    private void hear() throws IOException, InterruptedException {
        TimeUnit.NANOSECONDS.sleep(STEP.toNanos());
        for (Entry entry : ledger.news(System.nanoTime())) {
            entries.add(entry);
            String who = "w" + entry.worker();
            switch (entry.what()) {
                case IDLES -> tell(who, "@|bold HOLDS|@ and idles; the others wait");
                case KILLED ->
                    tell(
                            who,
                            "@|bold,red KILLED|@ (kill -9); its session holds on for about "
                                    + show(DemoWorker.SESSION_TIMEOUT));
                case IN -> {
                    if (DemoVerdict.heir(entries).filter(entry::equals).isPresent()) {
                        long killedAt = first(What.KILLED).orElseThrow().at();
                        tell(
                                who,
                                "@|bold,green TOOK OVER|@ after " + show(Duration.ofNanos(entry.at() - killedAt))
                                        + ", with token " + entry.token());
                    }
                }
                case FAILS -> troubles.add(who + " cannot continue: " + entry.text());
                case ASKS, OUT, LOST -> {}
            }
        }
    }

    /**
     * Whether all workers have ended. Records a worker that ended without being told to, or with an error, as trouble.
     */
    private boolean lookAfter(boolean stopping) {
        requireNoInterrupt();
        boolean allEnded = true;
        for (int worker = 1; worker <= WORKERS; worker++) {
            Process process = worker(worker);
            String who = "w" + worker + " ";
            allEnded &= !process.isAlive();
            if (!process.isAlive()
                    && !(killed && worker == DemoWorker.VICTIM)
                    && (!stopping || process.exitValue() != 0)
                    && troubles.stream().noneMatch(trouble -> trouble.startsWith(who))) {
                troubles.add(who + "ended unasked, with exit code " + process.exitValue());
            }
        }
        return allEnded;
    }

    /** Tells the workers to stop, and waits until they have ended. */
    private void stop() throws IOException, InterruptedException {
        for (int worker = 1; worker <= WORKERS; worker++) {
            try (OutputStream orders = worker(worker).getOutputStream()) {
                orders.write('\n');
            } catch (IOException e) {
                // The worker is gone already, and lookAfter() judges it by its exit code.
            }
        }
        long deadline = System.nanoTime() + STOP_LIMIT.toNanos();
        while (!lookAfter(true) && System.nanoTime() - deadline < 0) {
            hear();
        }
        hear();
        if (!lookAfter(true)) {
            troubles.add("not all have ended within " + show(STOP_LIMIT));
        }
    }

    /** Draws the time around the kill. */
    private void draw() {
        if (entries.isEmpty()) {
            return;
        }
        long first = entries.get(0).at();
        long last = entries.get(entries.size() - 1).at();
        long from = first(What.IDLES)
                .map(idle -> Math.max(first, idle.at() - AROUND.toNanos()))
                .orElse(first);
        long to = DemoVerdict.heir(entries)
                .map(heir -> Math.min(last, heir.at() + AROUND.toNanos()))
                .orElse(last);
        out.println();
        out.println("  who held, from " + show(Duration.ofNanos(from - begun)) + " to "
                + show(Duration.ofNanos(to - begun)) + " (# holds, = idles, x killed, . waits)");
        Picture.of(entries, from, to).forEach(out::println);
        out.println();
    }

    private void tell(String who, String what) {
        out.println(Ansi.AUTO.string(
                String.format(Locale.ROOT, "%6.1f s  %-6s  %s", (System.nanoTime() - begun) / 1e9, who, what)));
    }

    private void requireNoInterrupt() {
        if (interrupted) {
            throw new CancellationException("the demo was interrupted");
        }
    }

    /** Starts a worker that shares our standard output and error, and returns its process id. */
    private synchronized long start(List<String> command) throws IOException {
        if (closed) {
            throw new CancellationException("the demo is being ended");
        }
        workers.add(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                .start());
        return workers.get(workers.size() - 1).pid();
    }

    /** Returns the process of a worker. The first worker is number 1. */
    private synchronized Process worker(int number) {
        return workers.get(number - 1);
    }

    /** Kills a process, with SIGKILL where there are signals, and waits for it. Returns whether it is gone. */
    private static boolean kill(Process worker) throws InterruptedException {
        return worker.destroyForcibly().waitFor(STOP_LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    /** Ends all processes and removes all files. Further calls do nothing. */
    private synchronized void close() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            for (Process worker : workers) {
                kill(worker);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        server.close();
        delete(folder);
    }

    /** Runs as a shutdown hook. If the demo is not closed by then, a signal has interrupted it. */
    private synchronized void interrupt() {
        if (!closed) {
            interrupted = true;
            close();
            System.out.println("interrupted: all processes have ended, all files are removed");
        }
    }

    /** Deletes the folder, even while other processes also delete it or still write to it. */
    static void delete(Path folder) {
        for (int attempt = 0; attempt < ATTEMPTS && Files.exists(folder); attempt++) {
            try {
                MoreFiles.deleteRecursively(folder, RecursiveDeleteOption.ALLOW_INSECURE);
            } catch (IOException e) {
                // Another attempt follows. The demo reports what is left in the end.
            }
        }
    }

    /** Shows a duration in seconds. */
    static String show(Duration time) {
        return String.format(Locale.ROOT, "%.1f s", time.toMillis() / 1e3);
    }
}
