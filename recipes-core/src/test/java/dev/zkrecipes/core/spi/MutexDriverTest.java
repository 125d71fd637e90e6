// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The driver's rule. That it obeys the laws of drivers, a contract of recipes-mutex shows. */
class MutexDriverTest {
    private static final int LONGEST = 6;

    private final MutexDriver driver = new MutexDriver();

    private LockNode node(int number) {
        return driver.parse(String.format("%032x-lock-%010d", 0xabc - number, number))
                .orElseThrow();
    }

    private List<LockNode> queue(int length) {
        return IntStream.range(0, length).mapToObj(this::node).toList();
    }

    @Test
    void firstNode_holdsAndEveryOtherWaitsForTheOneBeforeIt() {
        List<LockNode> queue = queue(LONGEST);
        assertThat(driver.decide(List.of(), queue.get(0))).isEqualTo(Decision.granted());
        for (int i = 1; i < LONGEST; i++) {
            assertThat(driver.decide(queue.subList(0, i), queue.get(i))).isEqualTo(Decision.waitFor(queue.get(i - 1)));
        }
    }

    @Test
    void nodeNames_areThoseOfCurator() {
        assertThat(driver.nodeName()).isEqualTo("lock-");
        assertThat(driver.parse("_c_01234567-89ab-cdef-0123-456789abcdef-lock-0000000042"))
                .map(LockNode::number)
                .contains(42L);
        assertThat(driver.parse("0123456789abcdef0123456789abcdef-__WRIT__0000000042"))
                .isEmpty();
    }
}
