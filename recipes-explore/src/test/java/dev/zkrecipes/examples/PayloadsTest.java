// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.spi.LockNode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PayloadsTest {
    @ParameterizedTest
    @ValueSource(strings = {"", "painters", "a-b", "a/b", "R&D + 100%", "~", "~2D", "A.b_c*", "Köln, 日本", "\u0000\n"})
    void anyText_isReadBackUnchanged(String text) {
        String name = "0".repeat(32) + "-group." + Payloads.escape(text) + "-0000000042";
        LockNode node = LockNode.parseWithPayload(name, "group.").orElseThrow();
        assertThat(Payloads.unescape(node.payload())).isEqualTo(text);
    }
}
