// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.reads;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.internal.ClientScene;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.internal.queue.ChildrenSnapshot;
import dev.zkrecipes.core.internal.queue.ListQuery;
import dev.zkrecipes.core.spi.port.Answer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ListBatcherTest extends ClientScene {
    private final InterProcessLock lock =
            internals("/locks/orders", new TestDriver("lock-")).threadOwned();
    private int lists;

    @BeforeEach
    void countLists() {
        operations.show(names -> {
            lists++;
            return names;
        });
    }

    @Test
    @Tag("H73")
    void simultaneousAcquires_shareOneList() {
        List<CompletableFuture<Lease>> wanted =
                Stream.generate(lock::acquireAsync).limit(100).toList();
        scheduler.run();
        assertThat(lists).isEqualTo(1);
        assertThat(operations.nodes()).hasSize(100);
        assertThat(wanted.stream().filter(CompletableFuture::isDone)).hasSize(1);
    }

    @Test
    void laterAcquire_hasAListOfItsOwn() {
        operations.add("00000000000000000000000000000000-lock-0000000000"); // behind somebody else
        for (int i = 1; i <= 3; i++) {
            asked(lock);
            assertThat(lists).isEqualTo(i);
        }
    }

    /** As when ten thousand creates are answered one after the other, each before the list for the one before. */
    @Test
    @Tag("H73")
    @Tag("H77")
    void listsThatAreAnsweredSlowly_doNotPileUp() {
        operations.delayAnswersOf(Request.LIST, Duration.ofMillis(10));
        List<CompletableFuture<Lease>> wanted = new ArrayList<>();
        for (int i = 0; i < 3 * ListBatcher.MOST_UNDER_WAY; i++) {
            wanted.add(asked(lock));
        }
        assertThat(lists).isEqualTo(ListBatcher.MOST_UNDER_WAY);
        scheduler.advance(Duration.ofMillis(10));
        scheduler.advance(Duration.ofMillis(10));
        assertThat(lists).isBetween(ListBatcher.MOST_UNDER_WAY + 1, 2 * ListBatcher.MOST_UNDER_WAY);
        for (CompletableFuture<Lease> next : wanted) {
            var unused = next.join().closeAsync();
            scheduler.advance(Duration.ofMillis(20));
        }
        assertThat(operations.nodes()).isEmpty();
    }

    /** One of several paths is missing: the list shows what there is on the others. */
    @Test
    void writeThatFindsAPathMissing_isCommitted_soTheListBehindItCounts() {
        operations.add("lock-0000000000");
        ListBatcher batcher =
                new ListBatcher(operations, scheduler, (paths, reply) -> reply.accept(Answer.failed(Code.NONODE)));
        List<ChildrenSnapshot> shown = new ArrayList<>();
        batcher.askBehindWrite(new ListQuery(List.of(new ListQuery.Part("/locks/orders", false))), shown::add);
        scheduler.run();
        assertThat(shown)
                .singleElement()
                .satisfies(list -> assertThat(list.names("/locks/orders")).containsExactly("lock-0000000000"));
    }
}
