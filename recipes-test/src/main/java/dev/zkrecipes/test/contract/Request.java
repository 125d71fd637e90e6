// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.base.Throwables;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.test.internal.Lateness;
import dev.zkrecipes.test.internal.MachineLoad;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** One request for a lock, on its own thread, which keeps the lock until it is told to release it. */
final class Request {
    private static final Duration LONG = Duration.ofSeconds(20);

    private final Flavour flavour;
    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    private final CountDownLatch wantedBack = new CountDownLatch(1);
    private final CompletableFuture<Void> givenBack = new CompletableFuture<>();
    private final Thread worker;

    private Request(Workers workers, Flavour flavour, InterProcessLock lock, Duration limit, boolean interrupted) {
        this.flavour = flavour;
        this.worker = workers.start(flavour.name(), () -> run(lock, limit, interrupted));
    }

    static Request of(Workers workers, Flavour flavour, InterProcessLock lock) {
        return new Request(workers, flavour, lock, LONG, false);
    }

    static Request limited(Workers workers, Flavour flavour, InterProcessLock lock, Duration limit) {
        return new Request(workers, flavour, lock, limit, false);
    }

    static Request interrupted(Workers workers, Flavour flavour, InterProcessLock lock) {
        return new Request(workers, flavour, lock, LONG, true);
    }

    Outcome outcome() throws InterruptedException {
        return result(outcome, "an answer");
    }

    void assertWaits() {
        assertThat(outcome).as("%s waits", flavour).isNotDone();
    }

    boolean isDone() {
        return outcome.isDone();
    }

    void interrupt() {
        worker.interrupt();
    }

    /** Makes the thread release the lock, and throws what the release threw. */
    void giveBack() throws InterruptedException {
        wantedBack.countDown();
        result(givenBack, "the end of giving back");
    }

    /** Releases a lost hold. Unlocking may report the loss; closing a lease never does. */
    void giveBackLost() throws InterruptedException {
        try {
            giveBack();
        } catch (LockLostException e) {
            assertThat(flavour).as("told %s", e).isEqualTo(Flavour.JUC_TRY_LOCK);
        }
    }

    private <T> T result(CompletableFuture<T> future, String what) throws InterruptedException {
        try {
            return future.get(MachineLoad.stretched(LONG.multipliedBy(2)).toSeconds(), TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError(flavour + " waits in vain for " + what + ": " + worker, e);
        } catch (ExecutionException e) {
            Throwable cause = Objects.requireNonNullElse(e.getCause(), e);
            Throwables.throwIfUnchecked(cause);
            throw new AssertionError(flavour + " failed", cause);
        }
    }

    private void run(InterProcessLock lock, Duration limit, boolean interrupted) throws InterruptedException {
        Optional<Runnable> hold = ask(lock, limit, interrupted);
        if (hold.isPresent()) {
            wantedBack.await();
            giveBack(hold.get());
        }
    }

    private Optional<Runnable> ask(InterProcessLock lock, Duration limit, boolean interrupted) {
        try (Lateness lateness = Lateness.measure()) {
            long begin = System.nanoTime();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
            try {
                Optional<Runnable> hold = flavour.ask(lock, limit);
                end(hold.isPresent() ? Outcome.Ending.GRANTED : Outcome.Ending.NOT_GRANTED, null, begin, lateness);
                return hold;
            } catch (InterruptedException | RuntimeException e) {
                end(Outcome.Ending.FAILED, e, begin, lateness);
                return Optional.empty();
            }
        }
    }

    private void end(Outcome.Ending ending, @Nullable Throwable error, long begin, Lateness lateness) {
        Duration took = Duration.ofNanos(System.nanoTime() - begin);
        outcome.complete(new Outcome(flavour, ending, error, Thread.interrupted(), took, lateness.soFar()));
    }

    private void giveBack(Runnable hold) {
        try {
            hold.run();
            givenBack.complete(null);
        } catch (RuntimeException e) {
            givenBack.completeExceptionally(e);
        }
    }

    /**
     * How a request for a lock ended.
     *
     * @param flavour how the lock was requested
     * @param ending whether it ended with the lock, without it, or with an error
     * @param error the error; null if there was none
     * @param interrupted whether the interrupt flag of the thread was set at the end
     * @param took how long the request took
     * @param late how late any thread of this JVM would have been meanwhile
     */
    record Outcome(
            Flavour flavour,
            Ending ending,
            @Nullable Throwable error,
            boolean interrupted,
            Duration took,
            Duration late) {

        /** The ways to end. */
        enum Ending {
            GRANTED,
            NOT_GRANTED,
            FAILED
        }

        void assertGranted() {
            assertThat(ending).as(toString()).isEqualTo(Ending.GRANTED);
        }

        void assertNotGranted() {
            assertThat(ending).as(toString()).isEqualTo(Ending.NOT_GRANTED);
        }

        /** Whether the request ended without an answer from ZooKeeper. */
        boolean isUnanswered() {
            return error instanceof LockConnectionException;
        }

        void assertFailed(Class<? extends Throwable> type) {
            assertThat(error).as(toString()).isExactlyInstanceOf(type);
        }

        /** Checks the type of the failure, and that its message names the path, which readers of a log need. */
        void assertFailed(Class<? extends Throwable> type, String path) {
            assertFailed(type);
            assertThat(error).hasMessageContaining(path);
        }

        /**
         * Checks that the request took at least {@code shortest}, and at most {@code longest} on a machine that is
         * not overloaded.
         */
        void assertTook(Duration shortest, Duration longest) {
            assertThat(took).as(toString()).isBetween(shortest, longest.plus(late));
        }

        void assertInterrupted(boolean expected) {
            assertThat(interrupted).as("interrupt flag of " + this).isEqualTo(expected);
        }
    }
}
