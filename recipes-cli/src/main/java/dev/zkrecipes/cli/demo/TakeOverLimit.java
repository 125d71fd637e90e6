// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.time.Duration;
import java.util.Locale;

/**
 * How long after the death of a holder somebody else must hold.
 *
 * @param sessionTimeout as negotiated: so long the holder's session outlives it
 * @param tick how late the server may notice that the session has expired
 */
record TakeOverLimit(Duration sessionTimeout, Duration tick) {
    /** What the machine and the network may take on top. */
    private static final Duration SLACK = Duration.ofSeconds(1);

    Duration total() {
        return sessionTimeout.plus(tick).plus(SLACK);
    }

    /** Says how it is computed. */
    String explain() {
        return String.format(
                Locale.ROOT,
                "%.1f s (session %.1f + tick %.1f + %.1f)",
                seconds(total()),
                seconds(sessionTimeout),
                seconds(tick),
                seconds(SLACK));
    }

    private static double seconds(Duration time) {
        return time.toMillis() / 1e3;
    }
}
