// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import dev.zkrecipes.core.LockObserver;
import java.time.Duration;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the log shows, under one name: losses and long waits at WARN, sessions at INFO, requests at DEBUG. */
public final class LockLog {
    private static final Logger log = LoggerFactory.getLogger("dev.zkrecipes.locks");

    /** Logs what becomes of requests, if {@link #isForRequests}. */
    public static final LockObserver REQUESTS = request -> {
        String lock = describe(request);
        log.debug("Asking for the lock {}.", lock);
        return new Line(lock);
    };

    /** Why leases are lost that the application has not closed before its client. */
    public static final String CLIENT_CLOSED = "the client was closed";

    private LockLog() {}

    public static boolean isForRequests() {
        return log.isDebugEnabled();
    }

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

    /** A session has ended, unless it never began. */
    public static void sessionEnds(long id, Object how) {
        if (id != 0) {
            log.info("ZooKeeper session 0x{} has ended ({}).", Long.toHexString(id), how);
        }
    }

    /** A session has another connection than its first, or none. */
    public static void sessionIsConnected(long id, boolean connected) {
        log.info(
                connected
                        ? "ZooKeeper session 0x{} is connected again."
                        : "ZooKeeper session 0x{} has lost its connection; its leases are SUSPENDED.",
                Long.toHexString(id));
    }

    public static void lost(String lock, String reason) {
        if (reason.equals(CLIENT_CLOSED)) {
            log.info("Lost the lock {}: {}.", lock, reason);
        } else {
            log.warn("Lost the lock {}: {}. Stop what it protects: others may have the lock now.", lock, reason);
        }
    }

    public static void slow(String path, Duration waited, String queue) {
        log.warn(
                "Waiting for the lock {} for {} s: {}. If its holder is stuck, end it, or ask for the lock back.",
                path,
                waited.toSeconds(),
                queue);
    }

    public static void slowWithoutAConnection(String path, Duration waited, String reason) {
        log.warn(
                "Waiting for the lock {} for {} s: {}. The wait goes on when there is a connection again.",
                path,
                waited.toSeconds(),
                reason);
    }

    private static String millis(Duration time) {
        return String.format(Locale.ROOT, "%.3f", time.toNanos() / 1e6);
    }

    /** A request is granted; other observers are not told by what. */
    public static void granted(LockObserver.Request request, Duration waited, String by) {
        log.debug("Granted the lock {} after {} ms ({}).", describe(request), millis(waited), by);
    }

    private static String describe(LockObserver.Request request) {
        return request.path() + " (" + request.name().map(name -> name + ", ").orElse("") + request.kind() + ")";
    }

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
