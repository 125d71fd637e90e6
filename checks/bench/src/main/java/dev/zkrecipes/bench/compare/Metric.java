// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.compare;

import java.util.Locale;

/** A figure of a turn. */
enum Metric {
    /** Cycles of all threads together. */
    RATE("cycles/s"),
    /** The median time of an acquire. */
    ACQUIRE("us"),
    /** From one holder's release to the next one's. */
    HAND_OVER("us"),
    /** Processor time of the client's threads, for each cycle; the server is another process. */
    CPU("us"),
    /** Allocations of the client's threads per cycle. */
    ALLOCATED("bytes"),
    /** Live heap of the client, for each waiter. */
    HEAP("bytes"),
    /** Requests received by the server per cycle, without pings. */
    REQUESTS("requests"),
    /** Watch events sent by the server per cycle. */
    EVENTS("events");

    private final String unit;

    Metric(String unit) {
        this.unit = unit;
    }

    String unit() {
        return unit;
    }

    boolean moreIsBetter() {
        return this == RATE;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
