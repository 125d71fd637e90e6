// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.semaphore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.test.contract.LockDriverContract;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SemaphoreDriverTest {
    private static final String PATH = "/semaphores/test";

    private static SemaphoreDriver driver(int limit) {
        return new SemaphoreDriver(PATH, SemaphoreLimit.of(limit), 1);
    }

    private static LockNode node(int permits, int number) {
        return Laws.node(new SemaphoreDriver(PATH, SemaphoreLimit.of(1), permits), number);
    }

    private static long permits(List<LockNode> nodes) {
        return nodes.stream().mapToLong(SemaphoreDriver::permits).sum();
    }

    /** Requests for one, two and three permits, under one limit. */
    abstract static class Laws extends LockDriverContract {
        private final int limit;

        Laws(int limit) {
            this.limit = limit;
        }

        @Override
        protected List<LockDriver> drivers() {
            return IntStream.rangeClosed(1, 3)
                    .<LockDriver>mapToObj(permits -> new SemaphoreDriver(PATH, SemaphoreLimit.of(limit), permits))
                    .toList();
        }

        @Override
        protected boolean compatible(List<LockNode> holders) {
            return permits(holders) <= limit;
        }

        /** Nobody re-enters, and all permits of a semaphore are one rule. */
        @Override
        protected boolean isOneRule(LockDriver held, LockDriver other) {
            return true;
        }

        static LockNode node(SemaphoreDriver driver, int number) {
            return LockDriverContract.node(driver, number);
        }

        @Test
        @Tag("H22")
        void request_waitsForTheShortestRunInFront_withoutRoomForIt() {
            queues().forEach(queue -> {
                int last = queue.size() - 1;
                LockNode self = queue.get(last);
                Decision decision = driver(limit).decide(queue.subList(0, last), self);
                int room = limit - SemaphoreDriver.permits(self);
                if (room < 0) {
                    assertThat(decision).isInstanceOf(Decision.Never.class);
                } else if (permits(queue) <= limit) {
                    assertThat(decision).isEqualTo(Decision.granted());
                } else {
                    List<LockNode> nodes = ((Decision.WaitFor) decision).nodes();
                    assertThat(nodes).isEqualTo(queue.subList(last - nodes.size(), last));
                    assertThat(permits(nodes)).isGreaterThan(room);
                    assertThat(permits(nodes.subList(1, nodes.size()))).isLessThanOrEqualTo(room);
                }
            });
        }
    }

    @Nested
    @Tag("H22")
    class UnderOne extends Laws {
        UnderOne() {
            super(1);
        }
    }

    @Nested
    @Tag("H22")
    class UnderFour extends Laws {
        UnderFour() {
            super(4);
        }
    }

    @Nested
    @Tag("H22")
    class UnderSix extends Laws {
        UnderSix() {
            super(6);
        }
    }

    @Nested
    @Tag("H22")
    class UnderMoreThanFits extends Laws {
        UnderMoreThanFits() {
            super(15);
        }
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
    void ruleOfThePath_decides_ifTheConfiguredLimitIsTheSame() {
        byte[] resized = SemaphoreLimit.of(2).resized(5).encode();
        assertThat(driver(2).under(resized).decide(List.of(node(3, 1)), node(2, 2)))
                .isEqualTo(Decision.granted());
        assertThatThrownBy(() -> driver(5).under(resized))
                .isInstanceOf(LockRefusedException.class)
                .hasMessageContaining(PATH + " was made with 2 permits")
                .hasMessageContaining("configured with 5");
    }

    @Test
    void initialRule_isTheConfiguredLimit() {
        assertThat(new SemaphoreDriver(PATH, new SemaphoreLimit(3, 7), 1).initialRule())
                .asString(StandardCharsets.UTF_8)
                .isEqualTo("zkrecipes 1\nconfigured=3\ncurrent=3\n");
    }

    @Test
    @Tag("H80")
    void requestsOfAllSizes_haveOneRule_andAnotherLimitIsAnother() {
        SemaphoreLimit two = SemaphoreLimit.of(2);
        assertThat(new SemaphoreDriver(PATH, two, 1))
                .isEqualTo(new SemaphoreDriver(PATH, two, 2))
                .hasSameHashCodeAs(new SemaphoreDriver(PATH, two, 2))
                .isNotEqualTo(driver(3))
                .isNotEqualTo(new SemaphoreDriver(PATH + "/other", two, 1));
    }
}
