// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.scale;

import com.google.common.primitives.ImmutableLongArray;
import dev.zkrecipes.bench.contender.Bare;
import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.contender.Curator;
import dev.zkrecipes.bench.contender.Ours;
import dev.zkrecipes.bench.measure.Cycle;
import dev.zkrecipes.bench.measure.Site;
import dev.zkrecipes.bench.measure.Workload;
import dev.zkrecipes.core.LockOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * The main class of a JVM of a {@link Crowd}: some of the sessions, each with a path and a thread of its own.
 *
 * <p>Its questions: {@code size N} opens and closes sessions until it has its share of N. {@code start N NANOS} has its
 * share of the first N take their locks, each again after so many nanoseconds, or at once if that is 0. {@code count}
 * begins to count, and {@code stop} ends it. Its answer is the number of locks since the start, and how many
 * microseconds each counted one took to acquire.
 */
final class CrowdProcess {
    /** How an answer begins that is none. */
    static final String FAILED = "failed: ";

    private static final int AT_A_TIME = 16;
    private static final int LIMIT_SECONDS = 30;

    private final Workload.Opener opener;
    private final String connectString;
    private final int number;
    private final int jvms;
    /** Of its sessions: the i-th is the one with {@code number + i * jvms}. */
    private final List<Session> sessions = new ArrayList<>();

    private final List<Worker> workers = new ArrayList<>();
    private volatile boolean counting;
    private volatile CountDownLatch over = new CountDownLatch(0);
    private volatile String failure = "";

    private CrowdProcess(Contender contender, String connectString, int number, int jvms) {
        this.opener = switch (contender) {
            case OURS -> Ours.mutex(LockOptions.defaults());
            case CURATOR -> Curator.mutex();
            case BARE -> Bare.createAndDelete();
        };
        this.connectString = connectString;
        this.number = number;
        this.jvms = jvms;
    }

    /** Arguments: contender, connect string, which of the JVMs this is, from 0, and how many there are. */
    public static void main(String[] args) throws IOException, InterruptedException {
        PrintStream answers = System.out;
        System.setOut(System.err);
        CrowdProcess process = new CrowdProcess(
                Contender.valueOf(args[0]), args[1], Integer.parseInt(args[2]), Integer.parseInt(args[3]));
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            String answer = process.answer(line.split(" ", 3));
            answers.println(process.failure.isEmpty() ? answer : FAILED + process.failure);
        }
        Runtime.getRuntime().halt(1); // the parent has ended
    }

    private String answer(String[] question) throws InterruptedException {
        return switch (question[0]) {
            case "size" -> resize(Integer.parseInt(question[1]));
            case "start" -> start(Integer.parseInt(question[1]), Long.parseLong(question[2]));
            case "count" -> count();
            case "stop" -> stop();
            default -> throw new IllegalArgumentException("unknown question: " + question[0]);
        };
    }

    private String resize(int all) {
        int share = (all - number + jvms - 1) / jvms;
        ExecutorService pool = Executors.newFixedThreadPool(AT_A_TIME);
        try {
            List<CompletableFuture<Session>> opening = IntStream.range(sessions.size(), share)
                    .mapToObj(own -> CompletableFuture.supplyAsync(() -> open(number + own * jvms), pool))
                    .toList();
            opening.forEach(each -> sessions.add(each.join()));
            List<Session> left = sessions.subList(share, sessions.size());
            left.stream()
                    .map(each -> CompletableFuture.runAsync(each.workload::close, pool))
                    .toList()
                    .forEach(CompletableFuture::join);
            left.clear();
        } catch (CompletionException e) {
            failure = "a session could not be opened or closed: " + e.getCause();
        } finally {
            pool.shutdown();
        }
        return "resized";
    }

    /** With a first lock, which creates its path. */
    private Session open(int session) {
        try {
            Workload workload = opener.open(new Site(connectString, "/scale/" + session));
            Cycle cycle = workload.cycle(0);
            cycle.acquire();
            cycle.release();
            return new Session(workload, cycle);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private record Session(Workload workload, Cycle cycle) {}

    private String start(int active, long every) {
        over = new CountDownLatch(1);
        workers.clear();
        long now = System.nanoTime();
        for (int session = number; session < active; session += jvms) {
            workers.add(new Worker(session, sessions.get(session / jvms).cycle, now + every / active * session, every));
        }
        workers.forEach(Thread::start);
        return "started";
    }

    private String count() {
        counting = true;
        return "counting";
    }

    private String stop() throws InterruptedException {
        counting = false;
        over.countDown();
        long locks = 0;
        StringBuilder micros = new StringBuilder();
        for (Worker worker : workers) {
            worker.join(TimeUnit.SECONDS.toMillis(LIMIT_SECONDS));
            if (worker.isAlive()) {
                failure = worker.getName() + " has waited for its lock for " + LIMIT_SECONDS + " s";
                break;
            }
            locks += worker.locks;
            worker.micros.build().forEach(each -> micros.append(each).append(' '));
        }
        return locks + " " + micros;
    }

    /** Takes the lock of a session again and again. */
    private final class Worker extends Thread {
        private final Cycle cycle;
        private final long first;
        private final long every;
        private final ImmutableLongArray.Builder micros = ImmutableLongArray.builder();
        private long locks; // read when it has ended

        Worker(int session, Cycle cycle, long first, long every) {
            super("session " + session);
            this.cycle = cycle;
            this.first = first;
            this.every = every;
            setDaemon(true);
        }

        @Override
        public void run() {
            try {
                repeat();
            } catch (InterruptedException | RuntimeException | Error e) {
                failure = getName() + ": " + e;
            }
        }

        /** By the schedule a lock is waited for from when it was due, even if the one before was late. */
        private void repeat() throws InterruptedException {
            long due = first;
            while (every == 0 ? over.getCount() > 0 : !over.await(due - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                long from = every == 0 ? System.nanoTime() : due;
                cycle.acquire();
                long granted = System.nanoTime();
                cycle.release();
                locks++;
                if (counting) {
                    micros.add((granted - from) / 1_000);
                }
                due += every;
            }
        }
    }
}
