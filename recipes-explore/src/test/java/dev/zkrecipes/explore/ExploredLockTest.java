// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class ExploredLockTest {
    private static final Rule ALONE = (front, self) -> front.isEmpty();

    private final ExploredLock plain = ExploredLock.of("mutex", ALONE, (client, path) -> List.of());

    @Test
    void eachChange_keepsTheOthers_andLeavesTheLockAsItIs() {
        ChangingRule changing = new ChangingRule(data -> ALONE, List.of(), List.of());
        UnaryOperator<ZooKeeperOperations> port = operations -> operations;
        ExploredLock all = plain.withNesting(0, 1)
                .through(port)
                .withLocalHandoffs(2)
                .withChangingRule(changing)
                .withRevocations()
                .withHoldAtMost(Duration.ofSeconds(1))
                .withPlacesLost()
                .withNesting(1, 0);
        assertThat(all.name()).isEqualTo("mutex");
        assertThat(all.rule()).isSameAs(ALONE);
        assertThat(all.maker()).isSameAs(plain.maker());
        assertThat(all.nestings()).containsExactly(new ExploredLock.Nesting(0, 1), new ExploredLock.Nesting(1, 0));
        assertThat(all.port()).isSameAs(port);
        assertThat(all.localHandoffs()).isEqualTo(2);
        assertThat(all.changingRule()).isSameAs(changing);
        assertThat(all.isRevoked()).isTrue();
        assertThat(all.longestHold()).isEqualTo(Duration.ofSeconds(1));
        assertThat(all.losesPlaces()).isTrue();

        assertThat(plain.nestings()).isEmpty();
        assertThat(plain.isRevoked()).isFalse();
        assertThat(plain.longestHold()).isEqualTo(ExploredLock.FOR_EVER);
    }

    @Test
    void manyRequests_areNeededIfItSaysSo_andWhereRequestsOfOneProcessMeet() {
        assertThat(plain.needsManyRequests()).isFalse();
        assertThat(plain.withManyRequests().withRevocations().needsManyRequests())
                .isTrue();
        assertThat(plain.withLocalHandoffs(1).needsManyRequests()).isTrue();
    }
}
