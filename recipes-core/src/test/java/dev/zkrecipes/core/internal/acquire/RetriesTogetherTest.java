// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.spi.MutexDriver;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What many requests ask for after a lost answer is asked for once, also if there was a connection all the time. */
@Tag("H90")
class RetriesTogetherTest extends AcquireFixture {
    private static final int COUNT = 100;
    private static final Duration A_WHILE = Duration.ofSeconds(1);

    @Test
    void requestsWhoseListIsLost_listTogether() {
        operations.add(PATH, OTHER);
        operations.refuse(Request.LIST, Code.CONNECTIONLOSS, Code.CONNECTIONLOSS);
        List<AcquireLoop> loops = launchedTogether(COUNT, new MutexDriver());
        scheduler.run();
        scheduler.advance(A_WHILE);
        loops.forEach(AcquireFixture::assertWaits);
        assertThat(Collections.frequency(operations.requests(), Request.LIST)).isEqualTo(3);
    }

    @Test
    void createsWithLostAnswers_areSettledTogether() {
        operations.add(PATH, OTHER);
        List<AcquireLoop> loops = loseCreates();
        operations.refuse(Request.LIST, Code.CONNECTIONLOSS);
        scheduler.advance(A_WHILE);
        loops.forEach(AcquireFixture::assertWaits);
        List<Request> requests = operations.requests();
        assertThat(Collections.frequency(requests, Request.MULTI))
                .as("%s", requests)
                .isEqualTo(2);
    }

    @Test
    void abandonedCreatesWithLostAnswers_areLookedForTogether() {
        operations.add(PATH, OTHER);
        List<AcquireLoop> loops = loseCreates();
        operations.refuse(Request.LIST, Code.CONNECTIONLOSS);
        loops.forEach(AcquireLoop::giveUp);
        scheduler.advance(A_WHILE);
        assertThat(operations.nodes()).containsExactly(OTHER);
        List<Request> requests = operations.requests();
        assertThat(Collections.frequency(requests, Request.LIST))
                .as("%s", requests)
                .isEqualTo(2);
        assertThat(Collections.frequency(requests, Request.DELETE)).isEqualTo(COUNT);
    }

    /** All are made, and none of the requests knows. */
    private List<AcquireLoop> loseCreates() {
        for (int i = 0; i < COUNT; i++) {
            operations.loseAnswerOf(Request.CREATE);
        }
        List<AcquireLoop> loops = launchedTogether(COUNT, new MutexDriver());
        scheduler.run();
        assertThat(ours()).hasSize(COUNT);
        operations.requests();
        return loops;
    }
}
