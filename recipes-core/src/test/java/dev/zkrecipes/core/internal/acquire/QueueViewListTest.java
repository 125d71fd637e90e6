// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.queue.ChildrenSnapshot;
import dev.zkrecipes.core.internal.queue.ListQuery;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Children;
import java.time.Duration;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which list of a path counts. */
class QueueViewListTest extends AcquireFixture {
    private static final Duration MOMENT = Duration.ofSeconds(1);
    private static final String FIRST = "lock-0000000001";
    private static final String SECOND = "lock-0000000002";

    private final LockSpec spec = spec(new MutexDriver());

    private static ChildrenSnapshot list(long turn, String... names) {
        return ChildrenSnapshot.of(
                new ListQuery.Part(PATH, false), Answer.ok(new Children(List.of(names), new Stat())), turn);
    }

    private QueueView begun(ChildrenSnapshot list) {
        AcquireLoop loop = launched(Mode.QUEUE);
        scheduler.run();
        return new QueueView(assertGranted(loop).session(), PATH, list, engine.cleaner(), () -> {});
    }

    private boolean shows(QueueView seen, String name) {
        return seen.queue(spec).contains(spec.parseOwn(name));
    }

    /** Lists of several paths, one by one, come together with the last of them. */
    @Test
    @Tag("H107")
    void listThatWasAnsweredEarlier_doesNotTakeAwayARequestOfTheLaterOne() {
        QueueView seen = begun(list(2, FIRST, SECOND));
        seen.accept(list(1, FIRST));
        assertThat(shows(seen, SECOND)).isTrue();
    }

    /** A list of two paths was lost, so they are listed one by one; another request queues between the answers. */
    @Test
    @Tag("H107")
    void requestThatQueuesBetweenTheListsOfOthers_isNotForgotten() {
        operations.add(PATH, OTHER);
        operations.refuse(Request.LIST, Code.CONNECTIONLOSS);
        operations.delayAnswerOf(Request.LIST, Duration.ZERO); // of the one that is lost
        operations.delayAnswerOf(Request.LIST, MOMENT);
        AcquireLoop both = launched(together(LockOptions.defaults(), "/locks/another", PATH), Mode.QUEUE);
        scheduler.advance(MOMENT.dividedBy(2));
        AcquireLoop next = queueing();
        assertWaits(next);
        scheduler.advance(MOMENT);
        assertWaits(both);
        both.giveUp();
        scheduler.run();
        operations.remove(OTHER);
        scheduler.run();
        assertGranted(next);
    }

    @Test
    void listThatWasAnsweredLater_replacesTheOther() {
        QueueView seen = begun(list(2, FIRST, SECOND));
        seen.accept(list(3, SECOND));
        assertThat(shows(seen, FIRST)).isFalse();
        assertThat(shows(seen, SECOND)).isTrue();
    }
}
