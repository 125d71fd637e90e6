// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import com.google.common.base.Preconditions;
import java.time.Duration;
import java.util.Objects;

/** Bounds for the time-outs and delays of a client: an engine whose timers run out at once does nothing else. */
public final class TimeBounds {
    private static final Duration LONGEST = Duration.ofMillis(Integer.MAX_VALUE);
    private static final Duration SHORTEST_SESSION = Duration.ofMillis(10);
    private static final Duration SHORTEST = Duration.ofMillis(1);

    private TimeBounds() {}

    public static Duration session(Duration timeout) {
        return check(timeout, "sessionTimeout", SHORTEST_SESSION);
    }

    public static Duration request(Duration timeout) {
        return check(timeout, "requestTimeout", SHORTEST);
    }

    /** Refuses delays that are no pace for retries. */
    public static void checkPace(Duration first, Duration longest) {
        check(first, "first retry delay", SHORTEST);
        check(longest, "longest retry delay", SHORTEST);
        Preconditions.checkArgument(
                first.compareTo(longest) <= 0, "first retry delay %s is longer than the longest, %s", first, longest);
    }

    private static Duration check(Duration value, String name, Duration shortest) {
        Objects.requireNonNull(value, name + " is null: give a duration, or leave the setting out for its default");
        Preconditions.checkArgument(
                value.compareTo(shortest) >= 0 && value.compareTo(LONGEST) <= 0,
                "%s is %s, must be from %s ms to 2^31-1 ms",
                name,
                value,
                shortest.toMillis());
        return value;
    }
}
