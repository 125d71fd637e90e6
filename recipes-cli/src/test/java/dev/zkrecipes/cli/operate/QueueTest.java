// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import static dev.zkrecipes.cli.operate.Listed.queue;
import static dev.zkrecipes.cli.operate.Listed.standings;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class QueueTest {
    private static Optional<Limit> limit(int configured, int current) {
        return Optional.of(new Limit(configured, current));
    }

    @Test
    void firstOfAMutex_holds() {
        LockView lock =
                queue("lock-0000000007", "lock-0000000003", "lock-0000000010").view();
        assertThat(lock.recipe()).isEqualTo(SeenRecipe.MUTEX);
        assertThat(standings(lock)).isEqualTo("hww");
        assertThat(lock.places()).extracting(Place::position).containsExactly(0, 1, 2);
        assertThat(lock.places().get(0).node()).endsWith("lock-0000000003");
    }

    @Test
    void readersInFrontOfTheFirstWriter_hold() {
        LockView lock = queue("__READ__0000000001", "__READ__0000000002", "__WRIT__0000000003", "__READ__0000000004")
                .view();
        assertThat(lock.recipe()).isEqualTo(SeenRecipe.READ_WRITE);
        assertThat(standings(lock)).isEqualTo("hhww");
    }

    @Test
    void readersAlone_areAReadWriteLock() {
        assertThat(queue("__READ__0000000001").view().recipe()).isEqualTo(SeenRecipe.READ_WRITE);
    }

    @Test
    void writerWithTheReadLock_holdsBoth() {
        LockView lock = queue("__WRIT__0000000001", "__READ__0000000001", "__READ__0000000002")
                .view();
        assertThat(standings(lock)).isEqualTo("hhw");
    }

    @ParameterizedTest
    @CsvSource({"3, hhw", "5, hhh", "2, hww", "1, hww"})
    void permitsWithinTheLimit_areHeldInOrder(int current, String expected) {
        LockView lock = queue(limit(3, current), "lease.1-0000000001", "lease.2-0000000002", "lease.1-0000000003")
                .view();
        assertThat(lock.recipe()).isEqualTo(SeenRecipe.SEMAPHORE);
        assertThat(lock.places()).extracting(Place::weight).containsExactly(1, 2, 1);
        // A request for more than the limit was let in under an earlier one.
        assertThat(standings(lock)).isEqualTo(current == 1 ? "hhw" : expected);
    }

    @Test
    void smallRequest_doesNotOvertakeALargeOne() {
        LockView lock = queue(limit(3, 3), "lease.2-0000000001", "lease.2-0000000002", "lease.1-0000000003")
                .view();
        assertThat(standings(lock)).isEqualTo("hww");
        assertThat(lock.weight(Standing.HOLDS)).isEqualTo(2);
        assertThat(lock.weight(Standing.WAITS)).isEqualTo(3);
    }

    @Test
    void resizedSemaphore_isNoted() {
        assertThat(queue(limit(3, 1), "lease.1-0000000001").view().notes())
                .singleElement()
                .asString()
                .contains("made as 3", "resized to 1", "may be shown as waiting");
        assertThat(queue(limit(3, 3), "lease.1-0000000001").view().notes()).isEmpty();
    }

    @Test
    void semaphoreWithoutALimit_hasNoKnownHolder() {
        LockView lock = queue("lease.1-0000000001").view();
        assertThat(standings(lock)).isEqualTo("?");
        assertThat(lock.notes()).singleElement().asString().contains("cannot tell who holds");
    }

    @Test
    void unusedSemaphore_isKnownByItsData() {
        assertThat(queue(limit(3, 3)).view().recipe()).isEqualTo(SeenRecipe.SEMAPHORE);
        assertThat(queue().view().recipe()).isEqualTo(SeenRecipe.NONE);
    }

    @Test
    void severalRecipesOnAPath_haveNoKnownHolder() {
        LockView lock = queue("lock-0000000001", "__READ__0000000002").view();
        assertThat(lock.recipe()).isEqualTo(SeenRecipe.MIXED);
        assertThat(standings(lock)).isEqualTo("??");
        assertThat(lock.notes()).singleElement().asString().contains("__READ__, lock-");
    }

    @Test
    void unknownRecipe_isListedWithoutHolders() {
        LockView lock = queue("range.5~9-0000000002", "range.1~3-0000000001").view();
        assertThat(lock.recipe()).isEqualTo(SeenRecipe.UNKNOWN);
        assertThat(standings(lock)).isEqualTo("??");
        assertThat(lock.places()).extracting(Place::payload).containsExactly("1~3", "5~9");
        assertThat(lock.notes()).singleElement().asString().contains("does not know the rule of range.");
    }

    @Test
    void numberBeyondTheEnd_standsInFrontAndHoldsNothing() {
        LockView lock = queue("lock-0000000001", "lock-2147483647").view();
        assertThat(standings(lock)).isEqualTo("ww");
        assertThat(lock.places().get(0).node()).endsWith("lock-2147483647");
        assertThat(lock.notes()).singleElement().asString().contains("exhausted");
    }

    @Test
    void nodeWithoutASession_isSaidToStay() {
        Queue queue = new Queue("/x", List.of(Listed.node("lock-0000000001", 0)), Optional.empty());
        assertThat(queue.view().notes()).singleElement().asString().contains("without a session");
    }

    @Test
    void longQueue_isReadInOnePass() {
        String[] names = IntStream.range(0, 100_000)
                .mapToObj(i -> String.format("__READ__%010d", i))
                .toArray(String[]::new);
        assertThat(queue(names).view().count(Standing.HOLDS)).isEqualTo(100_000);
    }
}
