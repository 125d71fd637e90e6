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
 * Is told the outcome of each request for a lock, for metrics, traces and logs. Give it to
 * {@link ZooKeeperClientBuilder#observer}; see {@code docs/observing.md} for the ones that come with the library.
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
 * was released or lost. Re-entrant acquires are not requests: the thread has the lock. A request that is refused before
 * it is sent, such as an upgrade, is not observed. The calls for one request come in order; calls for different
 * requests come in no particular order, so a release may be reported after the next grant.
 *
 * <p><b>Threads.</b> An observer is never called on the engine's thread, so it holds up no other lock.
 * {@link #onWaiting} is called on the thread that asks. For a blocking call, so are the grant and the abandonment,
 * before the call returns; for an asynchronous one they come on the callback executor. A release is reported on the
 * thread that releases, a loss on a thread for losses, see {@link Lease#onLost}. An observer that takes long makes the
 * caller wait, and should not block. What it throws is logged, and changes nothing else.
 *
 * <p>Implementations must be thread-safe.
 */
@FunctionalInterface
public interface LockObserver {

    /**
     * A request for a lock begins, on the calling thread.
     *
     * @param request what is asked for
     * @return is told the outcome
     */
    Progress onWaiting(Request request);

    /**
     * A client that it observes has been made. The builder throws what this throws, and closes the client.
     *
     * @param connection tells the state of its connection, at any time
     */
    default void onClient(Supplier<ConnectionState> connection) {}

    /**
     * What is asked for.
     *
     * @param path the path of the lock; those of a multi-lock, with commas in between
     * @param name what the application calls the lock, see {@link LockOptions#withName(String)}; empty if it has no
     *     name
     * @param kind the kind of the lock's nodes, as in {@link Participant#kind()}; those of a multi-lock, with commas in
     *     between
     */
    record Request(String path, Optional<String> name, String kind) {
        /**
         * Makes a description of a request.
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
         * The kind as a word, for people and meters: {@code mutex}, {@code read}, {@code write}, {@code permits},
         * {@code leadership}. Of another recipe it is the kind without the separator at its end; of a multi-lock, the
         * words of its members with commas in between.
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

    /** How a request ends that is not granted. */
    enum Ending {
        /** {@code tryAcquire()}: somebody else has the lock. */
        BUSY,
        /** The time of a timed acquire is over. */
        TIMED_OUT,
        /** The thread that waited was interrupted. */
        INTERRUPTED,
        /** The future of {@code acquireAsync} was cancelled, or completed by somebody else. */
        CANCELLED,
        /** The call threw another error, or the future failed with it. */
        FAILED
    }

    /** Follows one request, and the hold that it leads to. */
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
         * The request failed. By default calls {@link #onAbandoned}, which is not called otherwise.
         *
         * @param waited how long it lasted
         * @param error what the caller gets
         */
        default void onFailed(Duration waited, Throwable error) {
            onAbandoned(waited, Ending.FAILED);
        }

        /**
         * The request waits longer than {@link ZooKeeperClientBuilder#slowAfter}. Told once, on the callback executor.
         *
         * @param waited how long it has lasted
         */
        default void onSlow(Duration waited) {}

        /**
         * The request waits for itself, or may do so, see {@link Deadlock}. Told once a minute while that lasts, on the
         * callback executor.
         *
         * @param deadlock who waits for whom
         */
        default void onDeadlock(Deadlock deadlock) {}

        /**
         * The lock was given back with its last hold. Its node may be there a little longer.
         *
         * @param held how long it was held
         */
        default void onReleased(Duration held) {}

        /**
         * The lock was lost while it was held. {@link #onReleased} is not called when its lease is closed later.
         *
         * @param held how long it was held until the loss was known
         * @param reason why it was lost, in English
         */
        default void onLost(Duration held, String reason) {}

        /** Somebody asks for the lock back. Told once for each such request and each hold that listens to them. */
        default void onRevocationRequested() {}
    }
}
