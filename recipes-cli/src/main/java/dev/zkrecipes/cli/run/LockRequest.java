// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import com.google.common.base.Splitter;
import dev.zkrecipes.cli.connect.ConnectOptions;
import dev.zkrecipes.cli.connect.ExitCodes;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.IncompatibleNodeException;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The request for the lock that the user has named, on one client. It says who holds the lock, and why it cannot be
 * had. The wait and the questions may be on different threads.
 */
final class LockRequest {
    private final Settings settings;
    private final ConnectOptions connection;
    private final ZooKeeperClient client;
    private final InterProcessLock lock;

    LockRequest(Settings settings, ConnectOptions connection, ZooKeeperClient client) {
        this.settings = settings;
        this.connection = connection;
        this.client = client;
        this.lock = settings.lock().on(client);
    }

    /** Returns the sessions of the zklocks in whose commands this zklock runs, from the outermost to the innermost. */
    List<String> outerSessions() {
        return Stream.of("ZKLOCK_OUTER", "ZKLOCK_SESSION")
                .flatMap(name -> connection.variable(name).stream())
                .flatMap(sessions -> Stream.of(sessions.strip().split("\\s+")))
                .toList();
    }

    /**
     * Refuses a lock that is held for a command in which this zklock runs. The outer zklock holds the lock until that
     * command has ended, so the command would wait for itself for ever; also behind somebody who waits for its end.
     */
    void refuseToWaitForOneself() throws InterruptedException {
        String held = connection.variable("ZKLOCK_PATH").orElse("");
        List<String> sessions = outerSessions();
        if (sessions.isEmpty()
                || settings.patience().filter(Duration::isZero).isPresent()
                || (sessions.size() == 1 // only the paths of the innermost are known
                        && Collections.disjoint(
                                Splitter.on(',').splitToList(held),
                                settings.lock().paths()))) {
            return;
        }
        List<Participant> participants;
        Map<String, Integer> limits;
        try {
            participants = lock.participants();
            limits = settings.lock().limits(client);
        } catch (LockException e) {
            return; // the request for the lock meets the same error and reports it
        }
        Map<String, Integer> taken = new HashMap<>(); // for the commands around, by path
        String whose = "";
        for (Participant each : participants) {
            int level = each.holding() ? sessions.indexOf("0x" + Long.toHexString(each.sessionId())) : -1;
            if (level >= 0) {
                taken.merge(each.path(), settings.lock().permitsOf(each), Integer::sum);
                whose = level == sessions.size() - 1
                        ? "the command that asks for it ($ZKLOCK_PATH)"
                        : "a command around the one that asks for it ($ZKLOCK_OUTER)";
            }
            int takenHere = taken.getOrDefault(each.path(), 0);
            boolean isInTheWay = level >= 0 || (!each.holding() && takenHere > 0);
            if (isInTheWay && settings.lock().isKeptOut(each, takenHere, limits)) {
                throw new LockRefusedException(each.path() + " is held for " + whose
                        + (level >= 0 ? "" : ", and " + each.owner() + " waits for that")
                        + ": it would wait for itself; leave the inner zklock out");
            }
        }
    }

    /**
     * Acquires the lock within the time that the user allows, of which some was {@code spent} to connect. If another
     * recipe uses the path, the error says which.
     */
    Optional<Lease> acquire(Duration spent) throws InterruptedException {
        try {
            if (settings.patience().isEmpty()) {
                return Optional.of(lock.acquire());
            }
            Duration wait = settings.patience().get();
            // The time to connect counts. If it has used up all of the wait, the lock is still requested once.
            Duration left = wait.minus(spent);
            return wait.isZero() || left.compareTo(Duration.ofMillis(1)) < 0
                    ? lock.tryAcquire()
                    : lock.tryAcquire(left);
        } catch (LockException e) {
            LockChoice.Mode other =
                    ExitCodes.of(e) == ExitCodes.UNUSABLE_PATH ? otherKind(e).orElse(null) : null;
            if (other == null) {
                throw e;
            }
            throw new LockRefusedException(
                    settings.lock() + " is in use as " + other.noun + ", which zklock takes " + other.option
                            + ", and cannot be " + settings.lock().mode().noun + " at the same time",
                    e);
        }
    }

    /** Returns which other recipe uses the path, if that is what an error is about. */
    private Optional<LockChoice.Mode> otherKind(LockException error) throws InterruptedException {
        if (error instanceof IncompatibleNodeException other) {
            return LockChoice.Mode.ofNode(other.node());
        }
        // A semaphore reads the data of the path before its nodes, so its error names no node. The nodes are read
        // here.
        if (settings.lock().mode() == LockChoice.Mode.SEMAPHORE) {
            try {
                return new InterProcessMutex(client, settings.lock().paths().get(0))
                        .participants().stream().findFirst().map(any -> LockChoice.Mode.MUTEX);
            } catch (IncompatibleNodeException e) {
                return LockChoice.Mode.ofNode(e.node())
                        .filter(mode -> mode != LockChoice.Mode.SEMAPHORE); // otherwise the error is about the limit
            } catch (LockException e) {
                return Optional.empty();
            }
        }
        return Optional.empty();
    }

    /**
     * Returns that the lock was not acquired in time, and who holds it; empty if nobody wants to know. Throws if the
     * connection is lost, because then it is not known whether the lock is busy.
     */
    Optional<String> notAcquired() throws InterruptedException {
        if (client.connectionState() != ConnectionState.CONNECTED) {
            throw new LockConnectionException(
                    "the connection was lost while zklock waited for " + settings.lock() + ", and the time is over");
        }
        if (settings.conflictCode() == 0 && !settings.verbose()) {
            return Optional.empty();
        }
        String holders = "";
        try {
            holders = holders(holder -> "");
        } catch (LockException e) {
            // The message says that the lock is busy, without a name.
        }
        return Optional.of("not acquired: " + settings.lock() + " is " + (holders.isEmpty() ? "busy" : holders));
    }

    /** Returns who holds the lock, with something about each of them; empty if nobody does. */
    private String holders(Function<Participant, String> about) throws InterruptedException {
        boolean several = settings.lock().paths().size() > 1;
        return lock.participants().stream()
                .filter(Participant::holding)
                .map(holder ->
                        (several ? holder.path() + " is " : "") + "held by " + holder.owner() + about.apply(holder))
                .distinct()
                .collect(Collectors.joining(", "));
    }

    /** Returns who holds the lock and since when, to follow its name; empty if nobody does. */
    String heldBy() throws InterruptedException {
        try {
            String holders = holders(holder -> " (queued since " + since(holder.age()) + ")");
            return holders.isEmpty() ? "" : ", " + holders;
        } catch (LockConnectionException e) {
            return ", while no server answers";
        }
    }

    /** Returns the time of day, with the date unless it was today. */
    private static String since(Duration age) {
        LocalDateTime now = LocalDateTime.now(ZoneId.systemDefault());
        LocalDateTime time = now.minus(age).truncatedTo(ChronoUnit.SECONDS);
        boolean isToday = time.toLocalDate().equals(now.toLocalDate());
        return (isToday ? "" : time.toLocalDate() + " ") + time.toLocalTime();
    }
}
