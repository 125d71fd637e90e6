// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.cli.connect.Seconds;
import dev.zkrecipes.cli.run.Settings.Reaction;
import dev.zkrecipes.cli.text.PlainText;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * Acquires the lock, keeps it while the launcher runs the command or while the script of {@code hold} runs, and
 * releases it.
 *
 * <p>The keeper is a JVM beside the launcher, {@code bin/zklock}. They exchange lines over the keeper's standard
 * input and output; the head of the launcher explains these lines. Four kinds of threads are at work. The main
 * thread connects, acquires the lock, and waits until the command has ended. A daemon thread reads the lines of the
 * launcher. At a terminal, another one tells the launcher who holds the lock during a wait. The lease's listeners run
 * on threads of the client; they have the command ended when the lock is lost or somebody asks for it.
 *
 * <p>The keeper never releases the lock before the command is gone, even if the launcher fails. If the launcher is
 * killed, the keeper's standard input ends. Then the keeper itself ends the command, by {@code zklock --end}, or
 * waits for the command with {@code --on-lost=ignore}. If the launcher is stopped when the command has to be ended,
 * it does not answer in time, and the keeper ends the command in its place.
 */
public final class Keeper {
    private static final String VERBOSE_LOG = "org.slf4j.simpleLogger.log.dev.zkrecipes.core";
    /** How often the launcher asks whether the lock is lost, within one session time-out. */
    private static final int ASKED_IN_A_SESSION = 12;
    /**
     * How long the launcher may take to answer, and after the grace period to report the end of the command. A
     * launcher that takes longer counts as stopped.
     */
    private static final Duration HEARD = Duration.ofSeconds(5);

    /**
     * How long the lock is kept after the command has ended, until the user has been told why it was ended. After the
     * keeper's last line, nobody reads its standard error.
     */
    private static final Duration EXPLAINED = Duration.ofSeconds(30);

    private static final Duration LOOK_AGAIN = Duration.ofSeconds(1);
    /** How long a wait lasts before somebody at a terminal is told who holds the lock. */
    private static final Duration UNTOLD = Duration.ofSeconds(1);
    /**
     * The pause after which the holders of the lock are read and reported again. Each time, all nodes of the lock are
     * read.
     */
    private static final Duration TOLD_AGAIN = Duration.ofSeconds(5);
    /** How much is told of who holds the lock; a terminal shows even less. */
    private static final int LONGEST_TOLD = 1000;
    /** The number of the signal TERM. */
    private static final int TERM = 15;

    private final Settings settings;
    private final ConnectOptions connection;
    private final PrintWriter err;
    private final Launcher launcher;
    private long begin = System.nanoTime(); // of the wait for the lock, in the present term of lead
    private String runs = "command"; // or "script", for messages

    // The state that the threads share, guarded by this. All but the first five belong to one term of lead.
    private boolean mayAsk; // the launcher has found the command, so the lock may be requested
    private boolean isAtTerminal; // somebody is at a terminal, and wants to know who holds the lock
    private boolean isRead; // the launcher has spoken since it was last told of the holders, so it is not stopped
    private boolean gone; // the launcher has ended
    private boolean refused; // the lock was lost or given up before the launcher named a target
    private boolean heard; // the launcher has begun to end the command
    private boolean ending; // the end of the command was demanded
    private boolean explained; // the user was told why
    private boolean again; // lead wants another term after this one
    private List<String> target = List.of(); // what is ended with the lock; empty as long as nothing runs
    private OptionalInt commandCode = OptionalInt.empty(); // set once the command has ended
    private @Nullable Lease kept; // the lease about which the launcher may ask

    /** One run of the launcher's file; whether it did what it was started for. */
    @FunctionalInterface
    private interface Attempt {
        boolean succeeds() throws IOException, InterruptedException;
    }

    Keeper(Settings settings, ConnectOptions connection, Launcher launcher, PrintWriter err) {
        this.settings = settings;
        this.connection = connection;
        this.launcher = launcher;
        this.err = err;
    }

    /**
     * Waits for the lock, keeps it, and releases it. The command is the last {@code words} words of the command line;
     * 0 means a script. {@code script} is the process of {@code --pid}, or 0. Returns the exit code of zklock.
     */
    int run(ZooKeeperClientBuilder builder, int words, int script) {
        runs = words == 0 ? "script" : "command";
        if (!launcher.isThere()) {
            warn("the jar alone runs no command: start it by bin/zklock");
            return ExitCodes.INTERNAL;
        }
        if (!settings.verbose()) {
            // zklock reports errors itself, each in one line.
            System.setProperty(VERBOSE_LOG, "off");
        }
        launcher.say("command " + words + " " + Seconds.show(settings.grace()) + " " + ends() + " " + script);
        Thread loading = NeededClasses.load();
        Thread main = Thread.currentThread();
        Thread listener = new Thread(() -> listen(main), "listens to the launcher");
        listener.setDaemon(true);
        listener.start();
        try {
            await(() -> mayAsk, null);
            return connectAndKeep(builder, loading);
        } catch (InterruptedException e) {
            tell("a signal ended the wait for " + settings.lock());
            return ExitCodes.INTERNAL;
        } catch (LockException e) {
            warn(ExitCodes.message(e));
            return ExitCodes.of(e);
        }
    }

    /**
     * Returns when the command is to be ended, in the words of the launcher: when the lock is lost, or only when it is
     * revoked, or never.
     */
    private String ends() {
        if (settings.onLost() == Reaction.TERM) {
            return "lost";
        }
        return settings.onRevoke() == Reaction.TERM ? "revoked" : "never";
    }

    /**
     * Sends the exit code to the launcher, if there is one. The launcher then ends without waiting for the end of this
     * JVM.
     *
     * @param code the exit code
     * @return the exit code
     */
    public static int end(int code) {
        Launcher launcher = Launcher.ofThisJvm();
        if (launcher.isThere()) {
            launcher.say("end " + code);
        }
        return code;
    }

    /**
     * Reads the launcher's lines until they end, and acts on each. If they end before anything runs under the lock,
     * interrupts the main thread.
     */
    private void listen(Thread main) {
        launcher.listen(this::hear);
        synchronized (this) {
            gone = true;
            notifyAll();
            if (target.isEmpty()) {
                main.interrupt();
            }
        }
    }

    private synchronized void hear(String line) {
        List<String> words = List.of(line.split(" ", -1));
        isRead = true;
        switch (words.get(0)) {
            case "go" -> {
                mayAsk = true;
                isAtTerminal = words.contains("terminal");
            }
            case "read" -> {}
            case "target" -> {
                refused |= isKnownLost();
                if (!refused) {
                    target = words.subList(1, words.size());
                    launcher.say("watched");
                }
            }
            case "ending" -> heard = true;
            case "over" -> {
                commandCode = OptionalInt.of(Integer.parseInt(words.get(1)));
                again = words.size() > 2 && settings.pause().isPresent();
            }
            case "ask" -> launcher.say(isKnownLost() ? "stop" : "alive");
            default -> throw new IllegalStateException(line);
        }
        notifyAll();
    }

    /** Connects, and keeps the lock once; for lead, once in each term. Returns the exit code. */
    private int connectAndKeep(ZooKeeperClientBuilder builder, Thread loading) throws InterruptedException {
        Duration patience = settings.patience().filter(wait -> !wait.isZero()).orElse(ConnectOptions.CONNECT_LIMIT);
        try (ZooKeeperClient client = connection.open(builder, patience)) {
            tell("waiting for " + settings.lock());
            LockRequest request = new LockRequest(settings, connection, client);
            request.refuseToWaitForOneself();
            if (!request.outerSessions().isEmpty()) {
                launcher.say("env ZKLOCK_OUTER=" + String.join(" ", request.outerSessions()));
            }
            loading.join(); // before the lock is held: see NeededClasses
            if (isAtTerminal) {
                Thread teller = new Thread(() -> tellHolders(request), "tells who holds the lock");
                teller.setDaemon(true);
                teller.start();
            }
            Optional<Lease> lease = request.acquire(sinceBegin());
            while (lease.isPresent()) {
                long granted = System.nanoTime();
                int code = keep(lease.get(), client);
                if (!forget()) {
                    launcher.say("end " + code); // it need not wait until the client is closed
                    return code;
                }
                await(() -> gone, settings.pause().orElseThrow().minusNanos(System.nanoTime() - granted));
                lease = request.acquire(sinceBegin());
            }
            request.notAcquired().ifPresent(why -> warn(why + " (" + Seconds.show(sinceBegin()) + " s)"));
        }
        return settings.conflictCode();
    }

    /**
     * Returns whether another term of lead follows. If so, forgets the term that has ended, and tells the launcher to
     * do so, too.
     */
    private synchronized boolean forget() {
        if (!again || gone) {
            return false;
        }
        begin = System.nanoTime();
        commandCode = OptionalInt.empty();
        target = List.of();
        kept = null;
        refused = false;
        heard = false;
        ending = false;
        explained = false;
        again = false;
        notifyAll();
        launcher.say("again");
        return true;
    }

    /**
     * Tells the launcher who holds the lock: during each wait, for as long as the client is open. A launcher that is
     * stopped is told no more: its pipe would be full, and a lock that is granted then would not be given back.
     */
    private void tellHolders(LockRequest request) {
        try {
            while (true) {
                await(() -> kept == null, null);
                for (Duration pause = UNTOLD; !await(() -> kept != null, pause); pause = TOLD_AGAIN) {
                    String busy = PlainText.of(settings.lock() + request.heldBy(), LONGEST_TOLD);
                    if (mayTell()) {
                        launcher.say("busy " + busy);
                    }
                }
            }
        } catch (InterruptedException | LockException e) {
            // The client is closed, or the path cannot serve as this lock: the main thread reports that.
        }
    }

    /** Whether the launcher has read what it was last told. If so, it is about to be told more. */
    private synchronized boolean mayTell() {
        boolean may = isRead;
        isRead = false;
        return may;
    }

    /** Keeps a granted lock until the command has ended, and then releases it. Returns the exit code. */
    private int keep(Lease lease, ZooKeeperClient client) throws InterruptedException {
        Optional<ZooKeeper> handle = client.zooKeeper();
        long session = handle.map(ZooKeeper::getSessionId).orElse(0L);
        Duration timeout =
                Duration.ofMillis(handle.map(ZooKeeper::getSessionTimeout).orElse(1000));
        long granted = System.nanoTime();
        try (lease) {
            tell("acquired " + settings.lock() + " after " + Seconds.show(sinceBegin()) + " s, fencing token "
                    + lease.fencingToken());
            launcher.say("env ZKLOCK_PATH=" + lease.path());
            launcher.say("env ZKLOCK_FENCE=" + lease.fencingToken());
            launcher.say("env ZKLOCK_SESSION=0x" + Long.toHexString(session));
            launcher.say("env ZKLOCK_NODE="
                    + MultiLease.guardsOf(lease).stream().map(Op::getPath).collect(Collectors.joining(",")));
            synchronized (this) {
                kept = lease;
                notifyAll();
            }
            launcher.say("granted " + Seconds.show(timeout.dividedBy(ASKED_IN_A_SESSION)));
            if (!isTaken(timeout)) {
                warn(settings.lock()
                        + (isKnownLost()
                                ? " was granted, and lost before anything was started (" + reason(lease) + ")"
                                : " was granted, and is given back after " + Seconds.show(timeout)
                                        + " s in which nothing was started")
                        + ": was zklock stopped?");
                return ExitCodes.INTERNAL;
            }
            if (target.isEmpty()) {
                return commandCode.orElseThrow(); // the launcher could start nothing, and has said why
            }
            lease.onLost(() -> react(
                    lease, settings.onLost(), "the lock " + settings.lock() + " is lost (" + reason(lease) + ")"));
            lease.onRevocationRequested(request -> react(
                    lease,
                    settings.onRevoke(),
                    request.requester() + " asks for the lock " + settings.lock()
                            + request.grace()
                                    .map(grace -> ", and takes it away after " + Seconds.show(grace) + " s")
                                    .orElse("")));
            await(() -> commandCode.isPresent() || gone, null);
            if (commandCode.isEmpty()) {
                outliveTheLauncher();
            }
            await(() -> !ending || explained, EXPLAINED);
            boolean lost = isLost(lease);
            int code = commandCode.orElse(ExitCodes.SIGNALLED + TERM);
            tell("held " + settings.lock() + " for " + Seconds.show(Duration.ofNanos(System.nanoTime() - granted))
                    + " s; the " + runs + " ended with " + code);
            return lost && settings.onLost() == Reaction.TERM ? ExitCodes.LOST : code;
        }
    }

    /**
     * Waits for the launcher to name the target, or to say that it can start nothing. If that takes too long, for
     * example because the launcher is stopped, the lock is given back, and a target that comes later is refused.
     * Returns whether the launcher has answered, and no target was refused.
     */
    private synchronized boolean isTaken(Duration limit) throws InterruptedException {
        BooleanSupplier answered = () -> !target.isEmpty() || commandCode.isPresent();
        await(() -> refused || answered.getAsBoolean(), limit);
        refused |= !answered.getAsBoolean();
        return !refused;
    }

    private synchronized boolean isKnownLost() {
        return kept != null && kept.state() == LeaseState.LOST;
    }

    /**
     * Returns whether the lock was lost while the command ran. If the connection is lost, asks the servers: the command
     * may have ended before anybody could know that its lock was lost. Also warns the user if the lock was lost, or if
     * nobody knows.
     */
    private boolean isLost(Lease lease) throws InterruptedException {
        if (lease.state() == LeaseState.SUSPENDED) {
            try {
                lease.verify();
            } catch (LockConnectionException e) {
                warn("the connection is gone: " + settings.lock() + " may not have been held until the " + runs
                        + " ended; it is free once the session has expired");
            } catch (LockLostException e) {
                // The state of the lease says so, below.
            }
        }
        boolean lost = lease.state() == LeaseState.LOST;
        if (lost) {
            warn("the lock " + settings.lock() + " was lost while the " + runs + " ran: " + reason(lease));
        }
        return lost;
    }

    /** Returns why a lease is lost. Only the exception of a call on the lease contains the reason. */
    private static String reason(Lease lease) {
        try {
            lease.fencingToken();
        } catch (LockLostException e) {
            return e.reason();
        } catch (RuntimeException e) {
            // The lease was closed meanwhile.
        }
        return "nobody knows why";
    }

    /**
     * Reacts to a loss of the lock or to a request to give it back, on the client's thread that reports it. If the
     * command is to be ended, first demands that from the launcher, and only then writes the reason to standard error,
     * because the write may block. If the launcher does not end the command in time, this thread ends it.
     */
    private void react(Lease lease, Reaction reaction, String why) {
        boolean ends = reaction == Reaction.TERM;
        BooleanSupplier over = () -> commandCode.isPresent() || gone || kept != lease;
        boolean first;
        List<String> ended;
        synchronized (this) {
            ended = target;
            first = ends && !ending && !over.getAsBoolean();
            ending |= first;
            if (first) {
                launcher.say("stop");
            }
        }
        warn(why + "; the " + runs + (ends ? " is being ended" : " continues"));
        explain(lease, first);
        try {
            if (first
                    && !(await(() -> heard || over.getAsBoolean(), HEARD)
                            && await(over, settings.grace().plus(HEARD)))) {
                endTarget(ended);
                overWithout(lease);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Notes that the user was told why the command is ended, if {@code isSo}. */
    private synchronized void explain(Lease lease, boolean isSo) {
        explained |= isSo && kept == lease;
        notifyAll();
    }

    /**
     * Does as if the launcher had reported the end of the command. It does nothing if the launcher has reported it
     * after all: {@code lead} may already be in another term.
     */
    private synchronized void overWithout(Lease lease) {
        if (kept == lease && commandCode.isEmpty()) {
            hear("over " + (ExitCodes.SIGNALLED + TERM));
        }
    }

    /**
     * Ends the command, or waits for it with {@code --on-lost=ignore}: only then may the lock be released. A script of
     * {@code hold} is waited for as long as any process has the pipe open for reading.
     */
    private void outliveTheLauncher() throws InterruptedException {
        if (settings.onLost() == Reaction.TERM) {
            endTarget(target);
            return;
        }
        String awaited = target.get(target.get(0).equals("readers") ? 2 : 1);
        untilDone("waited for", () -> launcher.await(awaited));
    }

    /** Ends the command by {@code zklock --end}. */
    private void endTarget(List<String> ended) throws InterruptedException {
        untilDone("ended", () -> launcher.end(Seconds.show(settings.grace()), ended));
    }

    /** Has the launcher's file do something with the command. Tries again until that succeeds. */
    private void untilDone(String what, Attempt attempt) throws InterruptedException {
        while (true) {
            try {
                if (attempt.succeeds()) {
                    return;
                }
            } catch (IOException e) {
                warn("the " + runs + " cannot be " + what + ": " + e.getMessage());
            }
            Thread.sleep(LOOK_AGAIN.toMillis());
        }
    }

    /** Waits until the condition holds, no longer than the limit; null is no limit. Returns whether it holds. */
    private synchronized boolean await(BooleanSupplier condition, @Nullable Duration limit)
            throws InterruptedException {
        long deadline = limit == null ? 0 : System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            long left = limit == null ? 0 : TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (limit != null && left <= 0) {
                return false;
            }
            wait(left);
        }
        return true;
    }

    private Duration sinceBegin() {
        return Duration.ofNanos(System.nanoTime() - begin);
    }

    /** Reports to the user what went wrong. */
    private void warn(String line) {
        err.println("zklock: " + PlainText.of(line));
        err.flush();
    }

    /** Reports to the user, but only with {@code --verbose}. */
    private void tell(String line) {
        if (settings.verbose()) {
            warn(line);
        }
    }
}
