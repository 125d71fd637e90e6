// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NodeDataTest {
    private static NodeData decode(String text) {
        return NodeData.decode(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void ownerAndRequests_areRead_inOrder() {
        NodeData data =
                decode("zkrecipes 1\nowner=a b=c\nnew=line\nrevoke=ab 1500 ops one\nrevoke=cd - \nrevoke=ef x z\n");
        assertThat(data.owner()).isEqualTo("a b=c");
        assertThat(data.requests())
                .containsExactly(
                        new GiveBackRequest("ops one", Optional.of(Duration.ofMillis(1500))),
                        new GiveBackRequest("unknown", Optional.empty()),
                        new GiveBackRequest("z", Optional.empty()));
    }

    @Test
    void dataOfAnotherLibrary_areTheOwnerIfShort() {
        assertThat(decode("10.0.0.7")).isEqualTo(new NodeData("10.0.0.7", List.of()));
        assertThat(decode("x".repeat(201))).isEqualTo(NodeData.NONE);
        assertThat(decode("")).isEqualTo(NodeData.NONE);
    }

    @Test
    void curatorsRequest_isOne() {
        assertThat(decode("__REVOKE__").requests()).hasSize(1);
        assertThat(decode("__REVOKE__").owner()).isEqualTo("unknown");
    }

    @Test
    void overlongText_isCut() {
        NodeData data = decode("zkrecipes 1\nowner=" + "x".repeat(100_000) + "\n" + "revoke=a 1 b\n".repeat(100));
        assertThat(data.owner()).hasSize(303).endsWith("x...");
        assertThat(data.requests()).hasSize(8);
    }

    @ParameterizedTest
    @ValueSource(strings = {"zkrecipes 1\nconfigured=3\ncurrent=5\n", "zkrecipes 1\nx=y\ncurrent=5\nconfigured=3\n"})
    void limit_isRead(String text) {
        assertThat(Limit.decode(text.getBytes(StandardCharsets.UTF_8))).contains(new Limit(3, 5));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "zkrecipes 1\n",
                "zkrecipes 2\nconfigured=3\ncurrent=5\n",
                "zkrecipes 1\nconfigured=3\ncurrent=0\n",
                "zkrecipes 1\nconfigured=03\ncurrent=5\n",
                "zkrecipes 1\nowner=x\n"
            })
    void anythingElse_isNoLimit(String text) {
        assertThat(Limit.decode(text.getBytes(StandardCharsets.UTF_8))).isEmpty();
    }
}
