// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.compare;

import java.util.Locale;

/** A figure of a turn. A cycle is an acquire with its release; if requests wait in a queue, it is a hand-over. */
enum Metric {
    /** Cycles per second of all threads together. */
    RATE("cycles/s"),
    /** The median time of an acquire. */
    ACQUIRE("us"),
    /** The mean time from one grant to the next in a queue of requests, each of which releases the lock at once. */
    HAND_OVER("us"),
    /**
     * Processor time of the client's threads per cycle. The server is another process, and its time is not included.
     */
    CPU("us"),
    /** Allocations of the client's threads per cycle. */
    ALLOCATED("bytes"),
    /** Live heap of the client for each request that waits in a queue. */
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
