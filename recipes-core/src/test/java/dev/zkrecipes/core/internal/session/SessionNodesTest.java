// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.zkrecipes.core.LockLimitException;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.zk.PacketLimit;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a session knows of its own nodes. */
class SessionNodesTest {
    private static final String PATH = "/locks/orders";

    private final ScriptedOperations operations = new ScriptedOperations(new ManualScheduler());
    private final SessionNodes nodes = new SessionNodes(operations);
    private final List<String> told = new ArrayList<>();

    @Test
    void endOfANode_isToldOnce_whenTheServerHasSaidSo() {
        nodes.add("one", 10);
        nodes.add("two", 10);
        assertThat(nodes.awaitEnd("one", () -> told.add("first"))).isTrue();
        assertThat(nodes.awaitEnd("one", () -> told.add("second"))).isTrue();
        nodes.remove("two", 10);
        assertThat(told).isEmpty();
        assertThat(nodes.has("one")).isTrue();
        nodes.remove("one", 10);
        assertThat(told).containsExactly("first", "second");
        nodes.remove("one", 0);
        assertThat(told).hasSize(2);
    }

    /** As many readers of a process may wait for a writer of its own, all on this one thread. */
    @Test
    void endThatThousandsWaitFor_costsEachOfThemTheSame() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        Runnable task = () -> told.add("each");
        nodes.add("one", 10);
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < 10_000; i++) {
            nodes.awaitEnd("one", task);
        }
        assertThat(threads.getCurrentThreadAllocatedBytes() - before)
                .as("a copy for each would take 200 MB")
                .isLessThan(10_000_000);
        nodes.remove("one", 10);
        assertThat(told).hasSize(10_000);
    }

    @Test
    void nodeOfSomebodyElse_isNotAwaited() {
        assertThat(nodes.awaitEnd("another", () -> told.add("never"))).isFalse();
        nodes.add("another", 10);
        nodes.remove("another", 10);
        assertThat(nodes.awaitEnd("another", () -> told.add("never")))
                .as("gone already")
                .isFalse();
        assertThat(told).isEmpty();
    }

    @Test
    @Tag("H74")
    void nodes_stayBelowSevenEighthsOfAPacket() {
        int limit = PacketLimit.of(operations) / 8 * 7;
        nodes.add("large", limit - 100);
        assertThatCode(() -> nodes.requireRoom(() -> PATH, 100)).doesNotThrowAnyException();
        assertThatThrownBy(() -> nodes.requireRoom(() -> PATH, 101))
                .isInstanceOf(LockLimitException.class)
                .hasMessageContaining(PATH);
        assertThat(nodes.isSmall()).isFalse();
        nodes.remove("large", limit - 100);
        assertThat(nodes.isSmall()).isTrue();
        assertThatCode(() -> nodes.requireRoom(() -> PATH, limit)).doesNotThrowAnyException();
    }
}
