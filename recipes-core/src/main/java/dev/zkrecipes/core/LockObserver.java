// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Receives the outcome of each request for a lock, for metrics, traces and logs. Pass it to
 * {@link ZooKeeperClientBuilder#observer}; see {@code docs/observing.md} for the observers that come with the library.
 *
 * <pre>{@code
 * LockObserver slow = request -> new LockObserver.Progress() {
 *   @Override
 *   public void onGranted(Duration waited) {
 *     if (waited.toSeconds() >= 5) {
 *       alarm.raise(request.path() + " took " + waited);
 *     }
 *   }
 * };
 * ZooKeeperClient client = ZooKeeperClient.builder().connectString(servers).observer(slow).build();
 * }</pre>
 *
 * <p>An observer is told once for each request whether it was granted or abandoned, and once for each grant whether it
 * was released or lost. Re-entrant acquires are not requests: the thread already has the lock. A request that is
 * refused before it is sent, such as an upgrade, is not observed. The calls for one request are made in order; calls
 * for different requests are made in no particular order, so a release may be reported after the next grant.
 *
 * <p><b>Threads.</b> An observer is never called on the engine's thread, so it delays no other lock. {@link #onWaiting}
 * is called on the requesting thread. For a blocking call, the grant and the abandonment are reported on that thread,
 * too, before the call returns; for an asynchronous call they are reported on the callback executor. A release is
 * reported on the thread that releases, a loss on a thread for losses, see {@link Lease#onLost}. An observer that takes
 * long makes the caller wait, so it should not block. An exception that it throws is logged, and has no other effect.
 *
 * <p>Implementations must be thread-safe.
 */
@FunctionalInterface
public interface LockObserver {

    /**
     * Called when a request for a lock begins, on the requesting thread.
     *
     * @param request the requested lock
     * @return receives the outcome
     */
    Progress onWaiting(Request request);

    /**
     * Called when a client with this observer has been created. If this method throws, the builder closes the client
     * and throws the same exception.
     *
     * @param connection returns the state of its connection, at any time
     */
    default void onClient(Supplier<ConnectionState> connection) {}

    /**
     * The requested lock.
     *
     * @param path the path of the lock; those of a multi-lock, with commas in between
     * @param name what the application calls the lock, see {@link LockOptions#withName(String)}; empty if it has no
     *     name
     * @param kind the kind of the lock's nodes, as in {@link Participant#kind()}; those of a multi-lock, each once,
     *     with commas in between
     */
    record Request(String path, Optional<String> name, String kind) {
        /**
         * Creates a description of a request.
         *
         * @param path the path of the lock
         * @param name what the application calls it; empty if it has no name
         * @param kind the kind of its nodes
         */
        public Request {
            Objects.requireNonNull(path, "path");
            Objects.requireNonNull(name, "name");
            Objects.requireNonNull(kind, "kind");
        }

        /**
         * Returns the kind as a word, for people and meters: {@code mutex}, {@code read}, {@code write},
         * {@code permits}, {@code leadership}. For another recipe it is the kind without the separator at its end; for
         * a multi-lock, the words of its members, each once, separated by commas.
         *
         * @return the word
         */
        public String kindAsWord() {
            return Stream.of(kind.split(",")).map(Request::word).collect(Collectors.joining(","));
        }

        private static String word(String kind) {
            return switch (kind) {
                case "lock-" -> "mutex";
                case "__READ__" -> "read";
                case "__WRIT__" -> "write";
                case "lease.", "lease-" -> "permits";
                case "latch-" -> "leadership";
                default -> kind.replaceFirst("[-._]+$", "");
            };
        }
    }

    /** How a request ends without a grant. */
    enum Ending {
        /** {@code tryAcquire()}: somebody else has the lock. */
        BUSY,
        /** The time limit of a timed acquire has elapsed. */
        TIMED_OUT,
        /** The waiting thread was interrupted. */
        INTERRUPTED,
        /** The future of {@code acquireAsync} was cancelled, or completed by somebody else. */
        CANCELLED,
        /** The call threw another error, or the future failed with it. */
        FAILED
    }

    /** Receives the progress of one request, and of the hold that results from it. */
    interface Progress {
        /**
         * The lock was acquired.
         *
         * @param waited how long that took
         */
        default void onGranted(Duration waited) {}

        /**
         * The request ended without the lock.
         *
         * @param waited how long it lasted
         * @param how why it ended
         */
        default void onAbandoned(Duration waited, Ending how) {}

        /**
         * The request failed. By default this calls {@link #onAbandoned}, which is not called for a failure otherwise.
         *
         * @param waited how long it lasted
         * @param error what the caller gets
         */
        default void onFailed(Duration waited, Throwable error) {
            onAbandoned(waited, Ending.FAILED);
        }

        /**
         * The request waits longer than {@link ZooKeeperClientBuilder#slowAfter}. Called once, on the callback
         * executor.
         *
         * @param waited how long it has lasted
         */
        default void onSlow(Duration waited) {}

        /**
         * The request waits for itself, or may do so, see {@link Deadlock}. Called once a minute while that lasts, on
         * the callback executor.
         *
         * @param deadlock who waits for whom
         */
        default void onDeadlock(Deadlock deadlock) {}

        /**
         * The lock was released with its last hold. Its node may exist a little longer.
         *
         * @param held how long it was held
         */
        default void onReleased(Duration held) {}

        /**
         * The lock was lost while it was held. {@link #onReleased} is not called when its lease is closed later.
         *
         * @param held how long it was held until the loss became known
         * @param reason why it was lost, in English
         */
        default void onLost(Duration held, String reason) {}

        /**
         * Somebody requests that the lock be given back. Called once for each such request and each hold that listens
         * for requests.
         */
        default void onRevocationRequested() {}
    }
}
