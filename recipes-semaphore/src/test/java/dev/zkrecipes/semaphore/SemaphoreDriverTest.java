// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.semaphore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.test.contract.DriverLaws;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SemaphoreDriverTest {
    private static final String PATH = "/semaphores/test";
    private static final int LONGEST = 5;
    private static final List<String> WEIGHTS = List.of("1", "2", "3");

    private static SemaphoreDriver driver(int limit) {
        return new SemaphoreDriver(PATH, SemaphoreLimit.of(limit), 1);
    }

    private static Stream<List<LockNode>> queues(int length) {
        return DriverLaws.queues(driver(1), SemaphoreDriver.KIND, WEIGHTS, length);
    }

    private static LockNode node(int permits, int number) {
        return DriverLaws.node(driver(1), SemaphoreDriver.KIND + permits + "-", number);
    }

    private static long permits(List<LockNode> nodes) {
        return nodes.stream().mapToLong(SemaphoreDriver::permits).sum();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 9, 15})
    @Tag("H22")
    void everyQueue_keepsTheLaws(int limit) {
        queues(LONGEST).forEach(queue -> DriverLaws.check(driver(limit), queue));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 9, 15})
    void request_holdsIfAllUpToItAreWithinTheLimit_isRefusedIfItIsAboveIt_andElseWaits(int limit) {
        queues(LONGEST).forEach(queue -> {
            LockNode self = queue.get(LONGEST - 1);
            Decision decision = driver(limit).decide(queue.subList(0, LONGEST - 1), self);
            Class<? extends Decision> expected = SemaphoreDriver.permits(self) > limit
                    ? Decision.Never.class
                    : permits(queue) <= limit ? Decision.Granted.class : Decision.WaitFor.class;
            assertThat(decision).as("the last of %s under %s", queue, limit).isInstanceOf(expected);
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 4, 5, 6})
    @Tag("H22")
    void request_waitsForTheShortestRunOfNearestOnesThatLeavesNoRoom(int limit) {
        queues(LONGEST).forEach(queue -> {
            LockNode self = queue.get(LONGEST - 1);
            List<LockNode> inFront = queue.subList(0, LONGEST - 1);
            if (driver(limit).decide(inFront, self) instanceof Decision.WaitFor wait) {
                int from = LONGEST - 1 - wait.nodes().size();
                assertThat(wait.nodes()).containsExactlyElementsOf(inFront.subList(from, LONGEST - 1));
                int room = limit - SemaphoreDriver.permits(self);
                assertThat(permits(wait.nodes())).isGreaterThan(room);
                assertThat(permits(wait.nodes().subList(1, wait.nodes().size())))
                        .isLessThanOrEqualTo(room);
            }
        });
    }

    @Test
    void holders_areTheFirstOfTheQueue_neverWithOneLeftOut() {
        queues(LONGEST).forEach(queue -> {
            List<Boolean> holding = IntStream.range(0, LONGEST)
                    .mapToObj(i -> driver(4).decide(queue.subList(0, i), queue.get(i)) instanceof Decision.Granted)
                    .toList();
            assertThat(holding).as("%s", queue).isSortedAccordingTo(Comparator.reverseOrder());
        });
    }

    @Test
    void numbersOfPermits_doNotOverflow() {
        List<LockNode> huge = List.of(node(Integer.MAX_VALUE, 1), node(Integer.MAX_VALUE, 2));
        assertThat(driver(Integer.MAX_VALUE).decide(huge, node(Integer.MAX_VALUE, 3)))
                .isEqualTo(Decision.waitFor(huge.get(1)));
        assertThat(driver(Integer.MAX_VALUE).decide(huge, node(1, 3))).isEqualTo(Decision.waitFor(huge.get(1)));
        List<LockNode> hugeAndSmall = List.of(node(Integer.MAX_VALUE, 1), node(1, 2));
        assertThat(driver(Integer.MAX_VALUE).decide(hugeAndSmall, node(1, 3)))
                .isEqualTo(Decision.waitFor(hugeAndSmall));
        assertThat(driver(1).decide(List.of(), node(Integer.MAX_VALUE, 1))).isInstanceOf(Decision.Never.class);
    }

    @Test
    void permitsOfARequest_areThoseOfItsNode_notOfTheDriver() {
        SemaphoreDriver five = new SemaphoreDriver(PATH, SemaphoreLimit.of(5), 5);
        assertThat(five.nodeName()).isEqualTo("lease.5-");
        assertThat(five.decide(List.of(node(3, 1)), node(2, 2))).isEqualTo(Decision.granted());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "lease.0-0000000001",
                "lease.-1-0000000001",
                "lease.01-0000000001",
                "lease.2147483648-0000000001",
                "lease.x-0000000001",
                "lease.-0000000001",
                "lease-0000000001",
                "lock-0000000001"
            })
    void nodesOfOtherForms_areNotKnown(String name) {
        assertThat(driver(4).parse(name)).isEmpty();
        assertThat(driver(4).parse("0123456789abcdef0123456789abcdef-" + name)).isEmpty();
    }

    @Test
    void ruleOfThePath_decides_ifItIsOfASemaphoreThatIsConfiguredTheSame() {
        byte[] resized = SemaphoreLimit.of(2).resized(5).encode();
        assertThat(driver(2).under(resized).decide(List.of(node(3, 1)), node(2, 2)))
                .isEqualTo(Decision.granted());
        assertThatThrownBy(() -> driver(5).under(resized))
                .isInstanceOf(LockRefusedException.class)
                .hasMessageContaining(PATH + " was made with 2 leases")
                .hasMessageContaining("configured with 5");
    }

    @Test
    void initialRule_isWhatIsConfigured() {
        assertThat(new SemaphoreDriver(PATH, new SemaphoreLimit(3, 7), 1).initialRule())
                .asString(StandardCharsets.UTF_8)
                .isEqualTo("zkrecipes 1\nconfigured=3\ncurrent=3\n");
    }
}
