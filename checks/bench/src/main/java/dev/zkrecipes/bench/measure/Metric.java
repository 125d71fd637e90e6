// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.measure;

import java.util.Locale;

/** A figure of a turn. */
public enum Metric {
    /** Cycles of all threads together. */
    RATE("cycles/s", true),
    /** The median time of an acquire. */
    ACQUIRE("us", false),
    /** From one holder's release to the next one's. */
    HAND_OVER("us", false),
    /** Processor time of the client's threads, for each cycle; the server is another process. */
    CPU("us", false),
    /** Allocations of the client's threads per cycle. */
    ALLOCATED("bytes", false),
    /** Live heap of the client, for each waiter. */
    HEAP("bytes", false),
    /** Requests received by the server per cycle, without pings. */
    REQUESTS("requests", false),
    /** Watch events sent by the server per cycle. */
    EVENTS("events", false);

    private final String unit;
    private final boolean moreIsBetter;

    Metric(String unit, boolean moreIsBetter) {
        this.unit = unit;
        this.moreIsBetter = moreIsBetter;
    }

    public String unit() {
        return unit;
    }

    public boolean moreIsBetter() {
        return moreIsBetter;
    }

    /** The name as files and options have it. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
