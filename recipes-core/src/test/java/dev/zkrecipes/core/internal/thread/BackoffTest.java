// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class BackoffTest {
    private static final Random RANDOM = new Random();

    private static Backoff backoff(Duration first, Duration longest) {
        return new Backoff(first, longest, RANDOM);
    }

    @Test
    void delays_doubleUpToTheLongestAndAreShortenedByAtMostHalf() {
        for (int round = 0; round < 200; round++) {
            Backoff backoff = backoff(Duration.ofMillis(20), Duration.ofMillis(100));
            for (long full : new long[] {20, 40, 80, 100, 100, 100}) {
                assertThat(backoff.next()).isBetween(Duration.ofMillis(full / 2), Duration.ofMillis(full));
            }
        }
    }

    @Test
    void delays_differ() {
        Set<Duration> delays = new HashSet<>();
        for (int i = 0; i < 20; i++) {
            delays.add(backoff(Duration.ofSeconds(1), Duration.ofSeconds(1)).next());
        }
        assertThat(delays).hasSizeGreaterThan(10);
    }

    @Test
    void reset_beginsAnew() {
        Backoff backoff = backoff(Duration.ofMillis(20), Duration.ofSeconds(1));
        for (int i = 0; i < 10; i++) {
            backoff.next();
        }
        backoff.reset();
        assertThat(backoff.next()).isBetween(Duration.ofMillis(10), Duration.ofMillis(20));
    }

    @Test
    void extremes_doNotOverflow() {
        Backoff backoff = backoff(Duration.ofMillis(Integer.MAX_VALUE), Duration.ofMillis(Integer.MAX_VALUE));
        Backoff small = backoff(Duration.ofNanos(1), Duration.ofMillis(Integer.MAX_VALUE));
        for (int i = 0; i < 100; i++) {
            assertThat(backoff.next())
                    .isBetween(Duration.ofMillis(Integer.MAX_VALUE / 2), Duration.ofMillis(Integer.MAX_VALUE));
            assertThat(small.next()).isBetween(Duration.ZERO, Duration.ofMillis(Integer.MAX_VALUE));
        }
    }
}
