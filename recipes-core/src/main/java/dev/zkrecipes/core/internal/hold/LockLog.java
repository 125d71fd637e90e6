// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import dev.zkrecipes.core.Deadlock;
import dev.zkrecipes.core.LockObserver;
import java.time.Duration;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs what happens to sessions and locks. All messages have one logger name, so that users can choose a level without
 * knowing classes: losses and long waits are logged at WARN, sessions at INFO, requests at DEBUG. May be used from any
 * thread.
 */
public final class LockLog {
    private static final Logger log = LoggerFactory.getLogger("dev.zkrecipes.locks");

    /** Logs what happens to requests. It is added to the observers of a request only if {@link #isForRequests}. */
    public static final LockObserver REQUESTS = request -> {
        String lock = describe(request);
        log.debug("Asking for the lock {}.", lock);
        return new Line(lock);
    };

    /**
     * The reason for the loss of leases that were still open when the client was closed. Such a loss is logged at INFO.
     */
    public static final String CLIENT_CLOSED = "the client was closed";

    private LockLog() {}

    /** Whether requests are logged. If not, a request without other observers is not observed at all. */
    public static boolean isForRequests() {
        return log.isDebugEnabled();
    }

    /**
     * Logs that a session has begun. The servers have bounds, so the granted time-out may differ from the requested
     * one.
     */
    public static void sessionBegins(long id, Duration asked, Duration granted) {
        log.info(
                "ZooKeeper session 0x{} has begun with a time-out of {} ms{}.",
                Long.toHexString(id),
                granted.toMillis(),
                granted.equals(asked)
                        ? ""
                        : ", where " + asked.toMillis()
                                + " ms were asked for (the server's minSessionTimeout and maxSessionTimeout are the bounds)");
    }

    /** Logs that a session has ended. A session without an id never began, so it is not logged. */
    public static void sessionEnds(long id, Object how) {
        if (id != 0) {
            log.info("ZooKeeper session 0x{} has ended ({}).", Long.toHexString(id), how);
        }
    }

    /** Logs that a session has lost its connection, or is connected again. */
    public static void sessionIsConnected(long id, boolean connected) {
        log.info(
                connected
                        ? "ZooKeeper session 0x{} is connected again."
                        : "ZooKeeper session 0x{} has lost its connection; its leases are SUSPENDED.",
                Long.toHexString(id));
    }

    /**
     * Logs that a lock was lost. Others may have it now, so this is a warning unless the application caused the loss.
     */
    public static void lost(String lock, String reason) {
        if (reason.equals(CLIENT_CLOSED)) {
            log.info("Lost the lock {}: {}.", lock, reason);
        } else {
            log.warn("Lost the lock {}: {}. Stop what it protects: others may have the lock now.", lock, reason);
        }
    }

    /** Warns that a request has waited for long, and shows the queue in front of it. */
    public static void slow(String path, Duration waited, String queue) {
        log.warn(
                "Waiting for the lock {} for {} s: {}. If its holder is stuck, end it, or ask for the lock back.",
                path,
                waited.toSeconds(),
                queue);
    }

    /** Warns that a request has waited for long without a connection, and shows the reason for that. */
    public static void slowWithoutAConnection(String path, Duration waited, String reason) {
        log.warn(
                "Waiting for the lock {} for {} s: {}. The wait goes on when there is a connection again.",
                path,
                waited.toSeconds(),
                reason);
    }

    /** Warns that requests wait for each other, or may do so. {@code path} is the lock of one of them. */
    public static void deadlock(String path, Deadlock deadlock) {
        log.warn(
                deadlock.isProven()
                        ? "Deadlock: the request for the lock {} waits for requests that wait for it: {}. Each waits"
                                + " until one of them ends, or fails by DeadlockPolicy.FAIL; one multi-lock for all of"
                                + " these locks prevents it."
                        : "The request for the lock {} may be in a deadlock: {}. It is one unless the rule of one of"
                                + " these locks grants it before the others have released theirs.",
                path,
                deadlock);
    }

    private static String millis(Duration time) {
        return String.format(Locale.ROOT, "%.3f", time.toNanos() / 1e6);
    }

    /** Logs that a request was granted {@code by} these nodes. Other observers do not learn the nodes. */
    public static void granted(LockObserver.Request request, Duration waited, String by) {
        log.debug("Granted the lock {} after {} ms ({}).", describe(request), millis(waited), by);
    }

    private static String describe(LockObserver.Request request) {
        return request.path() + " (" + request.name().map(name -> name + ", ").orElse("") + request.kind() + ")";
    }

    /** Logs the further events of one request. */
    private record Line(String lock) implements LockObserver.Progress {
        @Override
        public void onAbandoned(Duration waited, LockObserver.Ending how) {
            log.debug("Not granted the lock {} after {} ms: {}.", lock, millis(waited), how);
        }

        @Override
        public void onFailed(Duration waited, Throwable error) {
            log.debug("Not granted the lock {} after {} ms: {}.", lock, millis(waited), error.toString());
        }

        @Override
        public void onReleased(Duration held) {
            log.debug("Released the lock {} after {} ms.", lock, millis(held));
        }

        @Override
        public void onRevocationRequested() {
            log.debug("Asked to give back the lock {}.", lock);
        }
    }
}
