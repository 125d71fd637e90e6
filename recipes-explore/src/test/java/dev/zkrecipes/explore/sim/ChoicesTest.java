// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ChoicesTest {

    /** Some of every kind. */
    private static int[] ask(Choices choices) {
        return IntStream.range(0, 300)
                .map(i -> switch (i % 3) {
                    case 0 -> choices.next(10);
                    case 1 -> choices.chance(300) ? 1 : 0;
                    default -> choices.skewed(64);
                })
                .toArray();
    }

    @Test
    void sameSeed_givesTheSameAnswers_andAnotherDoesNot() {
        assertThat(ask(Choices.random(7))).isEqualTo(ask(Choices.random(7)));
        assertThat(ask(Choices.random(7))).isNotEqualTo(ask(Choices.random(8)));
    }

    @Test
    void answers_areReplayed() {
        Choices random = Choices.random(7);
        int[] answers = ask(random);
        assertThat(random.taken()).isEqualTo(answers);
        assertThat(ask(Choices.replay(answers))).isEqualTo(answers);
    }

    @Test
    void afterTheLastAnswer_allArePlain() {
        Choices replayed = Choices.replay(new int[] {3});
        assertThat(replayed.next(10)).isEqualTo(3);
        assertThat(ask(replayed)).containsOnly(0);
        assertThat(replayed.taken()).containsExactly(3);
    }

    @Test
    void replayedAnswers_areBroughtIntoBounds() {
        Choices replayed = Choices.replay(new int[] {12, -1, 99, 5});
        assertThat(replayed.next(10)).isEqualTo(2);
        assertThat(replayed.next(10)).isEqualTo(9);
        assertThat(replayed.skewed(64)).isEqualTo(35);
        assertThat(replayed.chance(0)).isTrue();
    }

    @Test
    void answers_stayInBoundsAndTheFirstAreLikelier() {
        Choices random = Choices.random(1);
        int[] skewed = IntStream.range(0, 10_000).map(i -> random.skewed(64)).toArray();
        assertThat(skewed).contains(0, 63);
        assertThat(IntStream.of(skewed)).allMatch(answer -> answer >= 0 && answer < 64);
        assertThat(IntStream.of(skewed).filter(answer -> answer < 4).count()).isGreaterThan(5000);
        assertThat(IntStream.range(0, 1000).filter(i -> random.chance(0)).count())
                .isZero();
        assertThat(IntStream.range(0, 1000).filter(i -> random.chance(1000)).count())
                .isEqualTo(1000);
    }
}
