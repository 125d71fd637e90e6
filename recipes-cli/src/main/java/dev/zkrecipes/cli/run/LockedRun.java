// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.cli.connect.Seconds;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** Acquires, runs the command, and releases. */
final class LockedRun {
    private final RunSettings settings;
    private final ConnectOptions connection;
    private final Notes notes;
    private final long begin = System.nanoTime();

    LockedRun(RunSettings settings, ConnectOptions connection, Notes notes) {
        this.settings = settings;
        this.connection = connection;
        this.notes = notes;
    }

    /** Returns the exit code of zklock. Call it on a thread that lives as long as zklock. */
    int run(ZooKeeperClientBuilder builder) throws IOException {
        SignalDesk signals = new SignalDesk(Thread.currentThread(), notes);
        signals.open();
        try {
            return connectAndRun(builder, signals);
        } catch (InterruptedException e) {
            notes.tell("a signal ended the wait for " + settings.lock());
            return signals.exitCode().orElse(ExitCodes.INTERNAL);
        } catch (LockException e) {
            notes.warn(ExitCodes.message(e));
            return ExitCodes.of(e);
        }
    }

    private int connectAndRun(ZooKeeperClientBuilder builder, SignalDesk signals)
            throws InterruptedException, IOException {
        Duration patience = settings.patience().filter(wait -> !wait.isZero()).orElse(ConnectOptions.CONNECT_LIMIT);
        ZooKeeperClient client = connection.open(builder, patience);
        try {
            notes.tell("waiting for " + settings.lock());
            Optional<Lease> lease = acquire(settings.lock().on(client));
            if (lease.isEmpty()) {
                return notAcquired(client);
            }
            Ended ended;
            try (Lease held = lease.get()) {
                ended = runUnder(held, client, signals);
            }
            notes.tell("held " + settings.lock() + " for " + Seconds.show(ended.held()) + " s; the command ended with "
                    + ended.commandCode());
            return ended.code();
        } finally {
            QuickEnd.close(client);
        }
    }

    private Optional<Lease> acquire(InterProcessLock lock) throws InterruptedException {
        if (settings.patience().isEmpty()) {
            return Optional.of(lock.acquire());
        }
        Duration wait = settings.patience().get();
        if (wait.isZero()) {
            return lock.tryAcquire();
        }
        Duration left = wait.minus(sinceBegin());
        return lock.tryAcquire(left.compareTo(Duration.ofMillis(1)) > 0 ? left : Duration.ofMillis(1));
    }

    private int notAcquired(ZooKeeperClient client) {
        if (client.connectionState() != ConnectionState.CONNECTED) {
            throw new LockConnectionException(
                    "the connection was lost while zklock waited for " + settings.lock() + ", and the time is over");
        }
        notes.tell("not acquired: " + settings.lock() + " is busy (" + Seconds.show(sinceBegin()) + " s)");
        return settings.conflictCode();
    }

    /**
     * How it ended.
     *
     * @param commandCode the exit code of the command
     * @param code the exit code of zklock
     * @param held how long the command ran
     */
    private record Ended(int commandCode, int code, Duration held) {}

    private Ended runUnder(Lease lease, ZooKeeperClient client, SignalDesk signals)
            throws InterruptedException, IOException {
        Map<String, String> environment = ChildEnvironment.of(lease, client);
        notes.tell("acquired " + settings.lock() + " after " + Seconds.show(sinceBegin()) + " s, fencing token "
                + environment.get(ChildEnvironment.FENCE));
        long acquired = System.nanoTime();
        boolean endOnLoss = settings.onLost() == Reaction.TERM;
        ChildGroup child = signals.hand(() -> ChildGroup.start(
                settings.command(), environment, endOnLoss ? Optional.of(settings.grace()) : Optional.empty()));
        Overseer overseer = new Overseer(child, settings, notes);
        overseer.watch(lease);
        int code;
        try {
            code = child.awaitExit();
            overseer.awaitQuiet();
        } finally {
            signals.close();
            child.dismiss();
        }
        Duration held = Duration.ofNanos(System.nanoTime() - acquired);
        return new Ended(code, isLost(lease) && endOnLoss ? ExitCodes.LOST : code, held);
    }

    /** Asks again at the end: the command may have ended before anybody knew that its lock was lost. */
    private boolean isLost(Lease lease) throws InterruptedException {
        if (lease.state() == LeaseState.SUSPENDED) {
            try {
                lease.verify();
            } catch (LockConnectionException e) {
                notes.warn("the connection is gone: nobody knows whether " + settings.lock()
                        + " was held until the command ended; it is free once the session has expired");
            } catch (LockLostException e) {
                // The state says so, below.
            }
        }
        boolean lost = lease.state() == LeaseState.LOST;
        if (lost) {
            notes.warn("the lock " + settings.lock() + " was lost while the command ran");
        }
        return lost;
    }

    private Duration sinceBegin() {
        return Duration.ofNanos(System.nanoTime() - begin);
    }
}
