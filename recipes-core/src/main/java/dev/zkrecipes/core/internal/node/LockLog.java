// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.node;

import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.internal.wire.LockPath;
import java.time.Duration;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the log of an application shows of sessions and locks, all under one name: at INFO that a session begins or ends
 * and that a lock is lost; at DEBUG each request, grant and release. Thread-safe.
 */
public final class LockLog {
    private static final Logger log = LoggerFactory.getLogger("dev.zkrecipes.locks");

    /** Logs what becomes of requests, if {@link #isForRequests}. */
    public static final LockObserver REQUESTS = request -> {
        String lock =
                request.path() + " (" + request.name().map(name -> name + ", ").orElse("") + request.kind() + ")";
        log.debug("Asking for the lock {}.", lock);
        return new Line(lock);
    };

    private LockLog() {}

    public static boolean isForRequests() {
        return log.isDebugEnabled();
    }

    /**
     * A session has begun.
     *
     * @param asked the time-out that was asked for
     * @param granted the one that the server has granted
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

    /** A session has ended, unless it never began. */
    public static void sessionEnds(long id, Object how) {
        if (id != 0) {
            log.info("ZooKeeper session 0x{} has ended ({}).", Long.toHexString(id), how);
        }
    }

    static void lost(String nodePath, String reason) {
        log.info("Lost the lock {} (node {}): {}.", LockPath.parent(nodePath), LockPath.name(nodePath), reason);
    }

    private static String millis(Duration time) {
        return String.format(Locale.ROOT, "%.3f", time.toNanos() / 1e6);
    }

    private record Line(String lock) implements LockObserver.Progress {
        @Override
        public void onGranted(Duration waited) {
            log.debug("Granted the lock {} after {} ms.", lock, millis(waited));
        }

        @Override
        public void onAbandoned(Duration waited, LockObserver.Ending how) {
            log.debug("Not granted the lock {} after {} ms: {}.", lock, millis(waited), how);
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
