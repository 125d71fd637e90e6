// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.examples.RangeLock.Range;
import dev.zkrecipes.explore.ExploredLock;
import dev.zkrecipes.explore.ExploredLock.Maker;
import dev.zkrecipes.explore.Explorer;
import dev.zkrecipes.explore.Rule;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The examples of docs/drivers.md under faults, on a simulated ensemble. */
class ExploreExamplesTest {
    private static final int SCHEDULES = 1000;

    /** Groups exclude each other; a member of the holding group does not pass waiters of other groups. */
    @Test
    void groupLock_keepsItsPromises() {
        Rule rule = (front, self) -> front.stream().allMatch(self::equals);
        Maker maker = (client, path) ->
                Stream.of("red", "blue").map(new GroupLock(client, path)::lock).toList();
        Explorer explorer = Explorer.of(ExploredLock.of("group lock", rule, maker));
        int schedules = Integer.getInteger("schedules", 1000);
        assertThat(explorer.explore(1, schedules).map(explorer::shrink)).isEmpty();
    }

    /** Holders do not overlap; a request that overlaps none in front of it passes. */
    @Test
    void rangeLock_keepsItsPromises() {
        Rule rule =
                (front, self) -> front.stream().noneMatch(other -> range(other).overlaps(range(self)));
        ExploredLock ranges = ExploredLock.of("range lock", rule, (client, path) -> {
            RangeLock lock = new RangeLock(client, path);
            return List.of(lock.lock(0, 10), lock.lock(5, 15), lock.lock(10, 20), lock.lock(-5, 25));
        });
        Explorer explorer = Explorer.of(ranges);
        assertThat(explorer.explore(1, SCHEDULES).map(explorer::shrink)).isEmpty();
    }

    /** Of a node's name without id and number. */
    private static Range range(String kind) {
        LockNode node = LockNode.parseWithPayload("0".repeat(32) + "-" + kind + "0000000000", "range.")
                .orElseThrow();
        return Range.of(node).orElseThrow();
    }
}
