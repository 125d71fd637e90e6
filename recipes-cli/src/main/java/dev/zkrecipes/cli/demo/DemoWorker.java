// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.cli.demo.Ledger.What;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * A worker process of a demo: takes one turn after another, until a line on standard input tells it to stop.
 *
 * <p>If standard input ends without a line, the demo is dead. Then the worker deletes the demo's folder and ends at
 * once, because nobody else would clean up.
 */
@Command(name = "worker", hidden = true)
final class DemoWorker implements Callable<Integer> {
    /** The number of the worker that the demo kills, in turn {@link #LAST_TURN} of that worker. */
    static final int VICTIM = 2;

    private static final int LAST_TURN = 10;

    /** A short time-out, so that the take-over comes soon after the kill. */
    static final Duration SESSION_TIMEOUT = Duration.ofSeconds(3);

    /** The path of the lock that protects the counter. */
    static final String LOCK = "/demo/lock";

    @Parameters(index = "0")
    private int number;

    @Parameters(index = "1")
    private String servers = "";

    @Parameters(index = "2")
    private Path folder = Path.of("");

    private final String path;
    private volatile boolean stopped;

    /** Called by picocli. */
    DemoWorker() {
        this(LOCK);
    }

    /** Creates a worker that locks another path. A test can thus have workers that do not exclude each other. */
    DemoWorker(String path) {
        this.path = path;
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Thread ear = new Thread(this::listen, "orders");
        ear.setDaemon(true);
        ear.start();
        Ledger ledger = new Ledger(folder);
        try (ZooKeeperClient client = ZooKeeperClient.builder()
                .connectString(servers)
                .sessionTimeout(SESSION_TIMEOUT)
                .ownerLabel("zklock demo, w" + number)
                .build()) {
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            for (int turn = 1; !stopped; turn++) {
                play(mutex, number == VICTIM && turn == LAST_TURN, ledger);
                TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextInt(2, 40));
            }
        } catch (LockException | IOException e) {
            ledger.add(number, What.FAILS, String.valueOf(e.getMessage()));
            return ExitCodes.INTERNAL;
        }
        return ExitCodes.OK;
    }

    /**
     * Takes one turn: acquires the lock, reads the counter at the beginning and the end, and adds one to it. The ledger
     * gets a line after the acquire and another before the release, so holds that overlap show there.
     */
    private void play(InterProcessMutex mutex, boolean last, Ledger ledger) throws IOException, InterruptedException {
        ledger.add(number, What.ASKS, "");
        try (Lease lease = mutex.acquire()) {
            ledger.add(number, What.IN, String.valueOf(lease.fencingToken()));
            if (last) {
                ledger.add(number, What.IDLES, "");
                TimeUnit.MINUTES.sleep(1); // the demo kills this process long before that
            }
            long found = ledger.count();
            TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextInt(20, 120));
            if (!lease.isValid()) {
                ledger.add(number, What.LOST, "");
                return;
            }
            long count = ledger.count();
            if (count != found) {
                throw new IOException("the counter went from " + found + " to " + count + " under its lock");
            }
            ledger.setCount(found + 1);
            ledger.add(number, What.OUT, "");
        } catch (LockLostException e) {
            ledger.add(number, What.LOST, ""); // the worker had not written yet that it was in
        }
    }

    /** Waits for the demo's order to stop, on a thread of its own. */
    private void listen() {
        try {
            stopped = System.in.read() >= 0;
        } catch (IOException e) {
            // A broken pipe means that the demo is dead, like the end of the input.
        }
        if (!stopped) {
            Demo.delete(folder);
            Runtime.getRuntime().halt(ExitCodes.INTERNAL);
        }
    }
}
