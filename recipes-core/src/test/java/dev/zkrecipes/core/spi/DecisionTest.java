// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DecisionTest {
    private static final LockNode NODE = new LockNode("lock-0000000001", "lock-", "", 1);

    @Test
    void waitingForNothing_isRejected() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Decision.waitFor(List.of()))
                .withMessageContaining("forever");
    }

    @Test
    void nodesToWaitFor_areCopied() {
        List<LockNode> nodes = new ArrayList<>(List.of(NODE));
        Decision decision = Decision.waitFor(nodes);
        nodes.clear();
        assertThat(decision).isEqualTo(Decision.waitFor(NODE));
    }

    @Test
    void neverWithoutAReason_isRejected() {
        assertThatNullPointerException().isThrownBy(() -> Decision.never(null)).withMessage("reason");
        assertThat(Decision.never("too many")).isEqualTo(new Decision.Never("too many"));
        assertThat(Decision.granted()).isEqualTo(new Decision.Granted());
    }
}
