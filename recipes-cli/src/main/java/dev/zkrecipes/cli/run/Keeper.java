// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.base.Splitter;
import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.cli.connect.Seconds;
import dev.zkrecipes.cli.run.Settings.Reaction;
import dev.zkrecipes.cli.text.PlainText;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.lang.ProcessBuilder.Redirect;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the lock for the command that the launcher has started, and ends it in place of a launcher that is gone or does
 * not answer. The lines that both exchange are explained at the head of the launcher, {@code bin/zklock}.
 */
public final class Keeper {
    private static final String LAUNCHER = "zklock.launcher";
    private static final String VERBOSE_LOG = "org.slf4j.simpleLogger.log.dev.zkrecipes.core";
    /** Of the session time-out. */
    private static final int ASKED_IN_A_SESSION = 12;
    /** For the launcher to answer, and after the grace to be done, unless it is stopped. */
    private static final Duration HEARD = Duration.ofSeconds(5);

    private static final Duration LOOK_AGAIN = Duration.ofSeconds(1);
    /** The number of the signal. */
    private static final int TERM = 15;

    private static final Pattern REASON = Pattern.compile("\\(node [^)]*\\): (.*?)(;|$)");
    private static final Pattern NODE_OF_ANOTHER = Pattern.compile("-(lock-|latch-|__READ__|__WRIT__|lease\\.)");

    private final Settings settings;
    private final ConnectOptions connection;
    private final PrintWriter err;
    private final PrintStream launcher = new PrintStream(System.out, true, UTF_8);
    private long begin = System.nanoTime();
    private String runs = "command";
    private boolean mayAsk;
    private boolean gone;
    private boolean refused;
    private boolean heard;
    private boolean ending;
    private boolean again;
    private List<String> target = List.of();
    private OptionalInt commandCode = OptionalInt.empty();
    private @Nullable Lease kept;

    Keeper(Settings settings, ConnectOptions connection, PrintWriter err) {
        this.settings = settings;
        this.connection = connection;
        this.err = err;
    }

    /** Returns the exit code of zklock, when the lock was given back. */
    int run(ZooKeeperClientBuilder builder, int words, int script) {
        runs = words == 0 ? "script" : "command";
        if (System.getProperty(LAUNCHER) == null) {
            warn("the jar alone runs no command: start it by bin/zklock");
            return ExitCodes.INTERNAL;
        }
        if (!settings.verbose()) {
            // zklock reports errors itself, in one line.
            System.setProperty(VERBOSE_LOG, "off");
        }
        say("command " + words + " " + Seconds.show(settings.grace()) + " " + ends() + " " + script);
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

    private String ends() {
        if (settings.onLost() == Reaction.TERM) {
            return "lost";
        }
        return settings.onRevoke() == Reaction.TERM ? "revoked" : "never";
    }

    /**
     * Tells the launcher, if there is one, how zklock ends. It waits for nothing else of this JVM.
     *
     * @param code the exit code
     * @return the exit code
     */
    public static int end(int code) {
        if (System.getProperty(LAUNCHER) != null) {
            System.out.print("+end " + code + "\n");
            System.out.flush();
        }
        return code;
    }

    private void listen(Thread main) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                hear(line);
            }
        } catch (IOException e) {
            // It is gone all the same.
        }
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
        switch (words.get(0)) {
            case "go" -> mayAsk = true;
            case "target" -> {
                refused |= isKnownLost();
                if (!refused) {
                    target = words.subList(1, words.size());
                    say("watched");
                }
            }
            case "ending" -> heard = true;
            case "over" -> {
                commandCode = OptionalInt.of(Integer.parseInt(words.get(1)));
                again = words.size() > 2 && settings.pause().isPresent();
            }
            case "ask" -> say(isKnownLost() ? "stop" : "alive");
            default -> throw new IllegalStateException(line);
        }
        notifyAll();
    }

    private int connectAndKeep(ZooKeeperClientBuilder builder, Thread loading) throws InterruptedException {
        Duration patience = settings.patience().filter(wait -> !wait.isZero()).orElse(ConnectOptions.CONNECT_LIMIT);
        try (ZooKeeperClient client = connection.open(builder, patience)) {
            tell("waiting for " + settings.lock());
            InterProcessLock lock = settings.lock().on(client);
            refuseToWaitForOneself(lock);
            loading.join();
            Optional<Lease> lease = acquire(lock, client);
            while (lease.isPresent()) {
                long granted = System.nanoTime();
                int code = keep(lease.get(), client);
                if (!forget()) {
                    return end(code);
                }
                await(() -> gone, settings.pause().orElseThrow().minusNanos(System.nanoTime() - granted));
                lease = acquire(lock, client);
            }
            notAcquired(lock, client);
        }
        return settings.conflictCode();
    }

    /** If zklock runs in the command of another zklock, the session of that one may hold the lock. */
    private void refuseToWaitForOneself(InterProcessLock lock) throws InterruptedException {
        String session = System.getenv("ZKLOCK_SESSION");
        String held = System.getenv("ZKLOCK_PATH");
        if (session == null
                || held == null
                || settings.patience().filter(Duration::isZero).isPresent()
                || Collections.disjoint(
                        Splitter.on(',').splitToList(held), settings.lock().paths())) {
            return;
        }
        List<Participant> participants;
        try {
            participants = lock.participants();
        } catch (LockException e) {
            return; // the request will say so
        }
        for (Participant each : participants) {
            if (each.holding()
                    && session.equals("0x" + Long.toHexString(each.sessionId()))
                    && settings.lock().isKeptOutBy(each.kind())) {
                throw new LockRefusedException(each.path() + " is held for the command that asks for it ($ZKLOCK_PATH):"
                        + " it would wait for itself; leave the inner zklock out");
            }
        }
    }

    /** Whether there is to be another term. Then this one is forgotten, by the launcher, too. */
    private synchronized boolean forget() {
        if (!again || gone) {
            return false;
        }
        begin = System.nanoTime();
        commandCode = OptionalInt.empty();
        target = List.of();
        kept = null;
        heard = false;
        ending = false;
        again = false;
        say("again");
        return true;
    }

    private Optional<Lease> acquire(InterProcessLock lock, ZooKeeperClient client) throws InterruptedException {
        try {
            if (settings.patience().isEmpty()) {
                return Optional.of(lock.acquire());
            }
            Duration wait = settings.patience().get();
            Duration left = wait.minus(sinceBegin()); // it may have taken all the time to connect
            return wait.isZero() || left.compareTo(Duration.ofMillis(1)) < 0
                    ? lock.tryAcquire()
                    : lock.tryAcquire(left);
        } catch (LockException e) {
            LockChoice.Mode other = ExitCodes.of(e) == ExitCodes.UNUSABLE_PATH
                    ? otherKind(e, client).orElse(null)
                    : null;
            if (other == null) {
                throw e;
            }
            throw new LockRefusedException(
                    settings.lock() + " is in use as " + other.noun + ", which zklock takes " + other.option
                            + ", and cannot be " + settings.lock().mode().noun + " at the same time",
                    e);
        }
    }

    /** Which other recipe uses a path, if that is what an error is about. */
    private Optional<LockChoice.Mode> otherKind(LockException error, ZooKeeperClient client)
            throws InterruptedException {
        Matcher node = NODE_OF_ANOTHER.matcher(String.valueOf(error.getMessage()));
        if (node.find()) {
            return Optional.of(LockChoice.Mode.of(node.group(1)));
        }
        if (settings.lock().mode() == LockChoice.Mode.SEMAPHORE) { // which has looked at the data of the path first
            try {
                return new InterProcessMutex(client, settings.lock().paths().get(0))
                        .participants().stream().findFirst().map(any -> LockChoice.Mode.MUTEX);
            } catch (LockException e) {
                Matcher found = NODE_OF_ANOTHER.matcher(String.valueOf(e.getMessage()));
                return found.find() && !found.group(1).equals("lease.") // else the error is about its limit
                        ? Optional.of(LockChoice.Mode.of(found.group(1)))
                        : Optional.empty();
            }
        }
        return Optional.empty();
    }

    private void notAcquired(InterProcessLock lock, ZooKeeperClient client) throws InterruptedException {
        if (client.connectionState() != ConnectionState.CONNECTED) {
            throw new LockConnectionException(
                    "the connection was lost while zklock waited for " + settings.lock() + ", and the time is over");
        }
        if (settings.conflictCode() == 0 && !settings.verbose()) {
            return;
        }
        String holders = "";
        try {
            holders = lock.participants().stream()
                    .filter(Participant::holding)
                    .map(holder -> (settings.lock().paths().size() > 1 ? holder.path() + " is " : "") + "held by "
                            + holder.owner())
                    .distinct()
                    .collect(Collectors.joining(", "));
        } catch (LockException e) {
            // Then it is busy without a name.
        }
        warn("not acquired: " + settings.lock() + " is " + (holders.isEmpty() ? "busy" : holders) + " ("
                + Seconds.show(sinceBegin()) + " s)");
    }

    /** Returns the exit code, when the lock was given back. */
    private int keep(Lease lease, ZooKeeperClient client) throws InterruptedException {
        Optional<ZooKeeper> handle = client.zooKeeper();
        long session = handle.map(ZooKeeper::getSessionId).orElse(0L);
        Duration timeout =
                Duration.ofMillis(handle.map(ZooKeeper::getSessionTimeout).orElse(1000));
        long granted = System.nanoTime();
        try (lease) {
            tell("acquired " + settings.lock() + " after " + Seconds.show(sinceBegin()) + " s, fencing token "
                    + lease.fencingToken());
            say("env ZKLOCK_PATH=" + lease.path());
            say("env ZKLOCK_FENCE=" + lease.fencingToken());
            say("env ZKLOCK_SESSION=0x" + Long.toHexString(session));
            say("env ZKLOCK_NODE="
                    + MultiLease.guardsOf(lease).stream().map(Op::getPath).collect(Collectors.joining(",")));
            synchronized (this) {
                kept = lease;
            }
            say("granted " + Seconds.show(timeout.dividedBy(ASKED_IN_A_SESSION)));
            if (!isTaken(timeout)) {
                warn(settings.lock()
                        + (isKnownLost()
                                ? " was granted, and lost before anything was started (" + reason(lease) + ")"
                                : " was granted, and is given back after " + Seconds.show(timeout)
                                        + " s in which nothing was started")
                        + ": was zklock stopped?");
                return ExitCodes.INTERNAL;
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
            boolean lost = isLost(lease);
            int code = commandCode.orElse(ExitCodes.SIGNALLED + TERM);
            tell("held " + settings.lock() + " for " + Seconds.show(Duration.ofNanos(System.nanoTime() - granted))
                    + " s; the " + runs + " ended with " + code);
            return lost && settings.onLost() == Reaction.TERM ? ExitCodes.LOST : code;
        }
    }

    /** Whether the launcher is there to start something. If not, it is too late for that. */
    private synchronized boolean isTaken(Duration limit) throws InterruptedException {
        await(() -> refused || !target.isEmpty(), limit);
        refused = target.isEmpty();
        return !refused;
    }

    private synchronized boolean isKnownLost() {
        return kept != null && kept.state() == LeaseState.LOST;
    }

    /** Asks again at the end: the command may have ended before anybody knew that its lock was lost. */
    private boolean isLost(Lease lease) throws InterruptedException {
        if (lease.state() == LeaseState.SUSPENDED) {
            try {
                lease.verify();
            } catch (LockConnectionException e) {
                warn("the connection is gone: " + settings.lock() + " may not have been held until the " + runs
                        + " ended; it is free once the session has expired");
            } catch (LockLostException e) {
                // The state says so, below.
            }
        }
        boolean lost = lease.state() == LeaseState.LOST;
        if (lost) {
            warn("the lock " + settings.lock() + " was lost while the " + runs + " ran: " + reason(lease));
        }
        return lost;
    }

    /** Why it is lost. */
    private static String reason(Lease lease) {
        try {
            lease.fencingToken();
        } catch (LockLostException e) {
            Matcher reason = REASON.matcher(String.valueOf(e.getMessage()));
            return reason.find() ? reason.group(1) : ExitCodes.message(e);
        } catch (RuntimeException e) {
            // It is closed meanwhile.
        }
        return "nobody knows why";
    }

    /** On the thread of whoever found the reason. The command begins to end before that is said. */
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
                say("stop");
            }
        }
        warn(why + "; the " + runs + (ends ? " is being ended" : " continues"));
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

    /** As if the launcher had said so, unless it has, and {@code lead} may be in another term. */
    private synchronized void overWithout(Lease lease) {
        if (kept == lease && commandCode.isEmpty()) {
            hear("over " + (ExitCodes.SIGNALLED + TERM));
        }
    }

    /** The lock is not given back before the command is gone. */
    private void outliveTheLauncher() throws InterruptedException {
        if (settings.onLost() == Reaction.TERM) {
            endTarget(target);
            return;
        }
        Optional<ProcessHandle> command = ProcessHandle.of(Long.parseLong(target.get(1)));
        while (command.map(ProcessHandle::isAlive).orElse(false)) {
            Thread.sleep(LOOK_AGAIN.toMillis());
        }
    }

    private void endTarget(List<String> ended) throws InterruptedException {
        List<String> command =
                new ArrayList<>(List.of(System.getProperty(LAUNCHER), "--end", Seconds.show(settings.grace())));
        command.addAll(ended);
        while (true) {
            try {
                Process end = new ProcessBuilder(command)
                        .redirectInput(Redirect.PIPE)
                        .redirectOutput(Redirect.DISCARD)
                        .redirectError(Redirect.DISCARD)
                        .start();
                if (end.waitFor() == 0) {
                    return;
                }
            } catch (IOException e) {
                warn("the " + runs + " cannot be ended: " + e.getMessage());
            }
            Thread.sleep(LOOK_AGAIN.toMillis());
        }
    }

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

    private void say(String line) {
        synchronized (launcher) {
            launcher.print("+" + line + "\n");
            launcher.flush();
        }
    }

    /** What went wrong. */
    private void warn(String line) {
        err.println("zklock: " + PlainText.of(line));
        err.flush();
    }

    /** What {@code --verbose} asks for. */
    private void tell(String line) {
        if (settings.verbose()) {
            warn(line);
        }
    }
}
