// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static dev.zkrecipes.core.internal.acquire.AcquireFixture.OTHER;
import static dev.zkrecipes.core.internal.acquire.AcquireFixture.PATH;
import static dev.zkrecipes.core.internal.acquire.AcquireFixture.assertWaits;
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
class QueueViewListTest {
    private static final Duration MOMENT = Duration.ofSeconds(1);
    private static final String FIRST = "lock-0000000001";
    private static final String SECOND = "lock-0000000002";

    private final AcquireFixture fixture = new AcquireFixture();
    private final LockSpec spec = fixture.spec(new MutexDriver());

    private static ChildrenSnapshot list(long turn, String... names) {
        return ChildrenSnapshot.of(
                new ListQuery.Part(PATH, false), Answer.ok(new Children(List.of(names), new Stat())), turn);
    }

    private QueueView begun(ChildrenSnapshot list) {
        AcquireLoop loop = fixture.launched(Mode.QUEUE);
        fixture.scheduler.run();
        return new QueueView(fixture.assertGranted(loop).session(), PATH, list, fixture.engine.cleaner(), () -> {});
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
        fixture.operations.add(PATH, OTHER);
        fixture.operations.refuse(Request.LIST, Code.CONNECTIONLOSS);
        fixture.operations.delayAnswerOf(Request.LIST, Duration.ZERO); // of the one that is lost
        fixture.operations.delayAnswerOf(Request.LIST, MOMENT);
        AcquireLoop both =
                fixture.launched(fixture.together(LockOptions.defaults(), "/locks/another", PATH), Mode.QUEUE);
        fixture.scheduler.advance(MOMENT.dividedBy(2));
        AcquireLoop next = fixture.queueing();
        assertWaits(next);
        fixture.scheduler.advance(MOMENT);
        assertWaits(both);
        both.giveUp();
        fixture.scheduler.run();
        fixture.operations.remove(OTHER);
        fixture.scheduler.run();
        fixture.assertGranted(next);
    }

    @Test
    void listThatWasAnsweredLater_replacesTheOther() {
        QueueView seen = begun(list(2, FIRST, SECOND));
        seen.accept(list(3, SECOND));
        assertThat(shows(seen, FIRST)).isFalse();
        assertThat(shows(seen, SECOND)).isTrue();
    }
}
