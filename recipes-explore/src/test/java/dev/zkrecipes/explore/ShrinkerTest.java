// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ShrinkerTest {
    private static final int[] NOISE = new Random(1).ints(400, 0, 100).toArray();

    private static int[] with(int at, int answer) {
        int[] noise = NOISE.clone();
        noise[at] = answer;
        return noise;
    }

    @Test
    void irrelevantChoices_areLeftOut() {
        int[] shrunk = new Shrinker(answers -> IntStream.of(answers).anyMatch(answer -> answer == 1000))
                .shrink(with(237, 1000));
        assertThat(shrunk).containsExactly(1000);
    }

    @Test
    void answers_areReduced() {
        int[] shrunk = new Shrinker(answers -> IntStream.of(answers).anyMatch(answer -> answer >= 40)).shrink(NOISE);
        assertThat(shrunk).hasSize(1);
        assertThat(shrunk[0]).isBetween(40, 79);
    }

    @Test
    void relevantPlaces_stay() {
        int[] shrunk = new Shrinker(answers -> answers.length > 5 && answers[5] != 0).shrink(NOISE);
        assertThat(shrunk).hasSize(6).startsWith(0, 0, 0, 0, 0);
        assertThat(shrunk[5]).isEqualTo(1);
    }

    @Test
    void tries_areBounded() {
        AtomicInteger tries = new AtomicInteger();
        int sum = IntStream.of(NOISE).sum();
        int[] shrunk = new Shrinker(answers -> {
                    tries.incrementAndGet();
                    return IntStream.of(answers).sum() == sum;
                })
                .shrink(NOISE);
        assertThat(IntStream.of(shrunk).sum()).isEqualTo(sum);
        assertThat(tries.get()).isLessThanOrEqualTo(2000);
    }
}
