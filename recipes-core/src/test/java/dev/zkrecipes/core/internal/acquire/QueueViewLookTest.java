// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ModeDriver;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The one thing that a wait costs while nothing happens: a look, once in a long while, for what no watch tells. See
 * {@code WatchLookTest} for the look itself.
 */
@Tag("H120")
class QueueViewLookTest extends AcquireFixture {
    private static final Duration LEAST = Duration.ofMinutes(1);
    private static final Duration MOST = Duration.ofSeconds(75);
    private static final Duration A_MOMENT = Duration.ofMillis(1);

    private final LockDriver mutex = new MutexDriver();

    @Test
    void waitersOfAPath_shareOneSmallRead_onceInAMinuteAndABit() {
        operations.add(OTHER);
        for (int i = 0; i < 10; i++) {
            queueing(mutex);
        }
        scheduler.advance(Duration.ofSeconds(30)); // what they watch is set
        operations.requests();
        scheduler.advance(LEAST.minusSeconds(30).minus(A_MOMENT));
        assertThat(operations.requests()).isEmpty();
        scheduler.advance(MOST.minus(LEAST));
        assertThat(operations.requests()).containsExactly(Request.LOOK);
        scheduler.advance(MOST.multipliedBy(3));
        assertThat(operations.requests()).hasSizeBetween(3, 4).containsOnly(Request.LOOK);
    }

    @Test
    void readersBehindOneWriter_shareOneRead() {
        operations.add("write-0000000000");
        for (int i = 0; i < 5; i++) {
            queueing(ModeDriver.SHARED);
        }
        scheduler.advance(Duration.ofSeconds(30));
        operations.requests();
        scheduler.advance(MOST.minusSeconds(30));
        assertThat(operations.requests()).containsExactly(Request.LOOK);
        assertThat(operations.lookedAt())
                .as("the writer, and the readers' own nodes")
                .containsOnlyOnce("write-0000000000")
                .hasSize(6);
    }

    @Test
    void pathsOfASession_shareOneRead() {
        operations.add(OTHER);
        launched(LockGroup.of(specAt("/locks/a", mutex, LockOptions.defaults())), Mode.QUEUE);
        launched(LockGroup.of(specAt("/locks/b", mutex, LockOptions.defaults())), Mode.QUEUE);
        scheduler.advance(Duration.ofSeconds(30));
        operations.requests();
        scheduler.advance(MOST.minusSeconds(30));
        assertThat(operations.requests()).containsExactly(Request.LOOK);
    }

    @Test
    void predecessorThatIsGoneUntold_isFound_andTheWaiterGranted() {
        operations.add(OTHER);
        AcquireLoop first = queueing(mutex);
        AcquireLoop second = queueing(mutex);
        operations.removeUntold(OTHER);
        scheduler.advance(LEAST.minus(A_MOMENT));
        assertWaits(first);
        scheduler.advance(MOST.minus(LEAST));
        assertGranted(first);
        assertWaits(second);
        assertThat(operations.dropped())
                .as("what the client would keep for ever")
                .containsExactly(OTHER);
        assertGranted(first).endAtOnce("the test is over");
        scheduler.run();
        assertGranted(second);
    }

    /** The one that is gone may be our own as well: nothing is granted without a list. */
    @Test
    void ownNodeThatIsGoneUntoldToo_isFoundBeforeAGrant() {
        operations.add(OTHER);
        AcquireLoop loop = queueing(mutex);
        String lost = newest();
        operations.removeUntold(lost);
        operations.removeUntold(OTHER);
        scheduler.advance(MOST.plusSeconds(2));
        assertThat(assertGranted(loop).nodePath()).doesNotEndWith(lost);
    }

    @Test
    void predecessorThatMayNotBeRead_failsAllWhoWaitForIt_byName() {
        operations.add(OTHER);
        AcquireLoop first = queueing(mutex);
        AcquireLoop second = queueing(mutex);
        operations.hide(OTHER);
        scheduler.advance(MOST);
        assertFailed(first, LockAccessException.class, "refused to watch " + PATH + "/" + OTHER + " (NOAUTH)");
        assertFailed(second, LockAccessException.class, PATH + "/" + OTHER);
    }

    @Test
    void ruleThatHasChangedUntold_isReadAgain_andDecides() {
        AtomicInteger limit = new AtomicInteger(1);
        operations.add(OTHER);
        AcquireLoop loop = queueing(new LimitDriver(limit));
        limit.set(2);
        operations.changeUntold();
        operations.requests();
        scheduler.advance(MOST);
        assertGranted(loop);
        assertThat(operations.requests()).contains(Request.LOOK, Request.WATCH, Request.LIST);
    }

    @Test
    void ruleThatMayNotBeRead_failsWhoDecidesByIt_byName() {
        operations.add(OTHER);
        AcquireLoop loop = queueing(new LimitDriver(new AtomicInteger(1)));
        operations.hide(LockPath.name(PATH));
        scheduler.advance(MOST);
        assertFailed(loop, LockAccessException.class, "refused to watch " + PATH + " (NOAUTH)");
    }

    @Test
    void lookWithoutAnAnswer_isRepeatedTheNextTime() {
        operations.add(OTHER);
        AcquireLoop loop = queueing(mutex);
        operations.refuse(Request.LOOK, Code.CONNECTIONLOSS);
        operations.removeUntold(OTHER);
        scheduler.advance(MOST);
        assertWaits(loop);
        scheduler.advance(MOST);
        assertGranted(loop);
    }

    @Test
    void withoutAConnection_nobodyLooks() {
        operations.add(OTHER);
        queueing(mutex);
        scheduler.advance(LEAST.minusSeconds(1));
        operations.requests();
        become(State.DISCONNECTED);
        scheduler.advance(MOST.minus(LEAST).plusSeconds(5)); // less than after which a client gives its handle up
        assertThat(operations.requests()).isEmpty();
    }

    @Test
    void lastToLeave_leavesNoTimer() {
        scheduler.run();
        int before = scheduler.timers();
        operations.add(OTHER);
        List<AcquireLoop> loops = List.of(queueing(mutex), queueing(mutex));
        loops.forEach(AcquireLoop::giveUp);
        scheduler.run();
        assertLeftNothing();
        assertThat(scheduler.timers()).isEqualTo(before);
    }
}
