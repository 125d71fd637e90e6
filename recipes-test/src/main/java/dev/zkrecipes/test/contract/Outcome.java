// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockConnectionException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How a request for a lock ended.
 *
 * @param flavour how the lock was asked for
 * @param ending with the lock, without it, or with an error
 * @param error the error, if that is how it ended
 * @param interrupted whether the thread's interrupt flag was set at the end
 * @param took how long it took
 * @param late how late any thread would have been meanwhile
 */
record Outcome(
        Flavour flavour, Ending ending, @Nullable Throwable error, boolean interrupted, Duration took, Duration late) {

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

    /** Checks the type of the failure, and that its message names the path for readers of the log. */
    void assertFailed(Class<? extends Throwable> type, String path) {
        assertFailed(type);
        assertThat(error).hasMessageContaining(path);
    }

    /** Checks that it took at least so long, and no longer on a machine that is not overloaded. */
    void assertTook(Duration shortest, Duration longest) {
        assertThat(took).as(toString()).isBetween(shortest, longest.plus(late));
    }

    void assertInterrupted(boolean expected) {
        assertThat(interrupted).as("interrupt flag of " + this).isEqualTo(expected);
    }
}
