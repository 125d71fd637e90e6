// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.cli.demo.Ledger.What;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.ZooKeeperClient;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
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

    @Parameters(index = "0")
    private DemoRecipe recipe = DemoRecipe.MUTEX;

    @Parameters(index = "1")
    private int number;

    @Parameters(index = "2")
    private String servers = "";

    @Parameters(index = "3")
    private Path folder = Path.of("");

    private final BiFunction<ZooKeeperClient, Boolean, DemoRecipe.Turn> turns;
    private volatile boolean stopped;

    /** Called by picocli. */
    DemoWorker() {
        this.turns = (client, alone) -> recipe.turn(client, alone);
    }

    /** Takes other turns than those of the recipe: a test can give it locks that do not work. */
    DemoWorker(BiFunction<ZooKeeperClient, Boolean, DemoRecipe.Turn> turns) {
        this.turns = turns;
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
            for (int turn = 1; !stopped; turn++) {
                boolean last = number == VICTIM && turn == LAST_TURN;
                play(turns.apply(client, last), last, ledger);
                TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextInt(2, 40));
            }
        } catch (LockException | IOException e) {
            ledger.add(number, What.FAILS, String.valueOf(e.getMessage()));
            return ExitCodes.INTERNAL;
        }
        return ExitCodes.OK;
    }

    /**
     * Takes one turn: acquires a lock, and reads the counters at its beginning and its end. The ledger gets a line
     * after the acquire and another before the release, so holds that overlap show there.
     */
    private void play(DemoRecipe.Turn turn, boolean last, Ledger ledger) throws IOException, InterruptedException {
        ledger.add(number, What.ASKS, "");
        try (Lease lease = turn.lock().acquire()) {
            Ledger.Share share = turn.share();
            ledger.add(number, What.IN, lease.fencingToken() + " " + share);
            if (last) {
                ledger.add(number, What.IDLES, "");
                TimeUnit.MINUTES.sleep(1); // the demo kills this process long before that
            }
            List<Long> found = new ArrayList<>();
            for (int thing : share.things()) {
                found.add(ledger.count(thing));
            }
            TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextInt(20, 120));
            if (!lease.isValid()) {
                ledger.add(number, What.LOST, "");
                return;
            }
            for (int i = 0; i < found.size(); i++) {
                count(ledger, share, share.things().get(i), found.get(i));
            }
            ledger.add(number, What.OUT, "");
        } catch (LockLostException e) {
            ledger.add(number, What.LOST, ""); // the worker had not written yet that it was in
        }
    }

    /**
     * Checks that nobody has changed a counter during this hold. A worker that holds the whole of a thing then adds
     * one; a worker that holds a part of it only looks.
     */
    private void count(Ledger ledger, Ledger.Share share, int thing, long found) throws IOException {
        long count = ledger.count(thing);
        if (count != found) {
            throw new IOException("counter " + thing + " went from " + found + " to " + count + " under its lock");
        }
        if (share.amount() == recipe.capacity) {
            ledger.setCount(thing, found + 1);
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
