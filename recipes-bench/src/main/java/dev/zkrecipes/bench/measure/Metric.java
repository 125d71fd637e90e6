// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.measure;

import java.util.Locale;

/** What is measured of a turn. */
public enum Metric {
    /** Cycles of all threads together. */
    RATE("cycles/s", true),
    /** The median time of an acquire. */
    ACQUIRE("us", false),
    /** From one holder's release to the next one's. */
    HAND_OVER("us", false),
    /** Processor time of the client's threads, for each cycle; the server is another process. */
    CPU("us", false),
    /** What the client's threads allocate, for each cycle. */
    ALLOCATED("bytes", false),
    /** Live heap of the client, for each waiter. */
    HEAP("bytes", false),
    /** Requests that the server got, for each cycle; pings apart. */
    REQUESTS("requests", false),
    /** Watch events that the server sent, for each cycle. */
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
