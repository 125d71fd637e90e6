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
 * Starts a server and the workers, kills one while it holds, waits for another to take over, and prints the verdict.
 * All processes and files are gone at its end, also if Ctrl-C or a signal ends the JVM.
 */
final class Demo {
    static final int WORKERS = 4;
    static final Duration TICK = Duration.ofMillis(500);
    private static final Duration STEP = Duration.ofMillis(5);
    /** How long the victim is seen to idle. */
    private static final Duration IDLE = Duration.ofMillis(700);

    private static final Duration START_LIMIT = Duration.ofSeconds(60);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(10);
    private static final Duration AFTERMATH = Duration.ofSeconds(2);
    /** What the picture shows before the victim idles, and after somebody takes over. */
    private static final Duration AROUND = Duration.ofMillis(1500);

    private static final int ATTEMPTS = 5;

    private final DemoRecipe recipe;
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

    /** A demo that lasts so long, or until a late take-over; the command, with arguments appended, starts a worker. */
    Demo(DemoRecipe recipe, Duration time, List<String> workerCommand, PrintWriter out) throws IOException {
        this.recipe = recipe;
        this.time = time;
        this.workerCommand = workerCommand;
        this.out = out;
        folder = Files.createTempDirectory("zklock-demo-");
        ledger = new Ledger(folder);
        Runtime.getRuntime().addShutdownHook(new Thread(this::interrupt, "ends the demo"));
        synchronized (this) { // the end waits until there is a server
            server = EmbeddedZooKeeper.builder()
                    .tickTime(TICK)
                    .dataDirectory(folder.resolve("server"))
                    .start();
        }
    }

    /**
     * Runs it.
     *
     * @return whether all was as it must be
     * @throws CancellationException if the JVM is being ended, which cleans up
     */
    boolean run() throws IOException, InterruptedException {
        List<Check> checks = new ArrayList<>();
        try {
            checks.addAll(play());
        } catch (IOException | IllegalStateException e) {
            requireNoInterrupt(); // after which whatever goes wrong does not count
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

    private List<Check> play() throws IOException, InterruptedException {
        ledger.create(recipe.things);
        out.println("zklock demo " + recipe + ": " + WORKERS + " processes, " + recipe.title + ", one kill -9");
        tell("server", "at " + server.connectString() + ", in this process");
        for (int worker = 1; worker <= WORKERS; worker++) {
            List<String> command = new ArrayList<>(workerCommand);
            command.addAll(List.of(recipe.toString(), String.valueOf(worker)));
            command.addAll(List.of(server.connectString(), folder.toString()));
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
        List<Long> counts = new ArrayList<>();
        List<String> left = new ArrayList<>();
        for (int thing = 0; thing < recipe.things; thing++) {
            counts.add(ledger.count(thing));
            left.addAll(server.children(DemoRecipe.path(thing)));
        }
        List<Check> checks = new ArrayList<>(new DemoVerdict(recipe, entries).checks(counts));
        checks.add(check("processes", troubles, "all ended in order but the one that was killed"));
        checks.add(check("nodes", left, "none is left"));
        return checks;
    }

    private static Check check(String subject, List<String> wrong, String fine) {
        return new Check(wrong.isEmpty(), subject, wrong.isEmpty() ? fine : String.join("; ", wrong));
    }

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

    /** Reads what is new in the ledger, after a moment. */
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

    /** Whether all have ended that should; one that has ended and should not is a trouble. */
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

    private void stop() throws IOException, InterruptedException {
        for (int worker = 1; worker <= WORKERS; worker++) {
            try (OutputStream orders = worker(worker).getOutputStream()) {
                orders.write('\n');
            } catch (IOException e) {
                // It is gone, which its exit code says.
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

    /** The time around the kill. */
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
                + show(Duration.ofNanos(to - begun)) + " (" + recipe.marks + ", = idles, x killed, . waits)");
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

    /** Starts a worker with our standard output and error, and returns its id. */
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

    /** The first is number 1. */
    private synchronized Process worker(int number) {
        return workers.get(number - 1);
    }

    /** SIGKILL, where there are signals. Returns when the process is gone, and whether it is. */
    private static boolean kill(Process worker) throws InterruptedException {
        return worker.destroyForcibly().waitFor(STOP_LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    /** Ends and removes everything. Further calls do nothing. */
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

    private synchronized void interrupt() {
        if (!closed) {
            interrupted = true;
            close();
            System.out.println("interrupted: all processes have ended, all files are removed");
        }
    }

    /** Deletes it, even while others do so or still write to it. */
    static void delete(Path folder) {
        for (int attempt = 0; attempt < ATTEMPTS && Files.exists(folder); attempt++) {
            try {
                MoreFiles.deleteRecursively(folder, RecursiveDeleteOption.ALLOW_INSECURE);
            } catch (IOException e) {
                // Once more; the demo says what is left.
            }
        }
    }

    /** In seconds. */
    static String show(Duration time) {
        return String.format(Locale.ROOT, "%.1f s", time.toMillis() / 1e3);
    }
}
