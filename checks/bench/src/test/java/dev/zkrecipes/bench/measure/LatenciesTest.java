// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.measure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class LatenciesTest {
    private static Latencies of(int capacity, long... times) {
        Latencies latencies = new Latencies(capacity);
        LongStream.of(times).forEach(latencies::add);
        return latencies;
    }

    @Test
    void median_isThatOfAllThreadsTogether() {
        assertThat(Latencies.median(List.of(of(10, 1, 9), of(10, 5), of(10)))).isEqualTo(5);
    }

    @Test
    void fullMemory_keepsTheLatest() {
        assertThat(Latencies.median(List.of(of(3, 100, 100, 1, 2, 3)))).isEqualTo(2);
    }

    @Test
    void withoutTimes_thereIsNoMedian() {
        assertThatIllegalArgumentException().isThrownBy(() -> Latencies.median(List.of(of(3))));
    }
}
