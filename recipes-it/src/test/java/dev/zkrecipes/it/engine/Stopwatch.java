// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import dev.zkrecipes.test.internal.Lateness;
import java.time.Duration;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/** Measures calls. */
final class Stopwatch {
    private Stopwatch() {}

    /** How long a call takes on a machine that has the time. */
    static Duration time(ThrowingCallable call) throws Exception {
        try (Lateness lateness = Lateness.measure()) {
            long start = System.nanoTime();
            call.call();
            return Duration.ofNanos(System.nanoTime() - start).minus(lateness.soFar());
        } catch (Exception | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
