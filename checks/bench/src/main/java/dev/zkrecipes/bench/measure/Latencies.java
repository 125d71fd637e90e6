// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.measure;

import com.google.common.math.Quantiles;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

/** The latest times of one thread, in memory allocated at the start, so that measuring allocates nothing. */
final class Latencies {
    private final long[] nanos;
    private long count;

    Latencies(int capacity) {
        this.nanos = new long[capacity];
    }

    void add(long time) {
        nanos[(int) (count++ % nanos.length)] = time;
    }

    private LongStream stream() {
        return Arrays.stream(nanos, 0, (int) Math.min(count, nanos.length));
    }

    /** The median of all threads' times. */
    static double median(List<Latencies> threads) {
        return Quantiles.median()
                .compute(threads.stream().flatMapToLong(Latencies::stream).toArray());
    }
}
