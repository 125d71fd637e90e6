// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.ask;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.internal.ClientScene;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.queue.LockSpec;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is read to find out who takes part in a lock, and who holds it. */
@Tag("H90")
class ParticipantQueryTest extends ClientScene {
    private static final int NODES = 1000;

    private final EngineClient engine = EngineClient.of(client);
    private final LockSpec spec = new LockSpec(
            engine.settings().aclOf().apply("/"), "/locks/orders", new TestDriver("lock-"), LockOptions.defaults());

    @BeforeEach
    void fillTheQueue() {
        IntStream.range(0, NODES).forEach(i -> operations.add(String.format("lock-%010d", i)));
        scheduler.run();
        operations.requests();
    }

    private ParticipantQuery query(boolean holdersOnly) {
        return holdersOnly
                ? ParticipantQuery.ofHolders(engine.requests(), spec, Integer.MAX_VALUE)
                : ParticipantQuery.ofAll(engine.requests(), spec);
    }

    private CompletableFuture<List<ParticipantQuery.Seen>> ask(boolean holdersOnly) {
        CompletableFuture<List<ParticipantQuery.Seen>> answer =
                query(holdersOnly).request().launch();
        scheduler.run();
        return answer;
    }

    @Test
    void holders_areAskedForByOneListAndARead_howeverManyWait() {
        List<ParticipantQuery.Seen> holders = ask(true).join();
        assertThat(operations.requests()).containsExactly(Request.LIST, Request.READ);
        assertThat(holders).singleElement().satisfies(seen -> {
            assertThat(seen.content()).isPresent();
            assertThat(seen.participant().holding()).isTrue();
            assertThat(seen.participant().position()).isZero();
        });
    }

    @Test
    void questionThatNobodyWaitsFor_isNotSent() {
        CompletableFuture<List<ParticipantQuery.Seen>> answer =
                query(true).request().launch();
        answer.cancel(false);
        scheduler.run();
        assertThat(operations.requests()).isEmpty();
    }

    @Test
    void holderGoneWhenRead_isLeftOut() {
        operations.refuse(Request.READ, Code.NONODE);
        assertThat(ask(true)).isCompletedWithValue(List.of());
    }

    @Test
    void participants_areAllRead() {
        List<Participant> all = ask(false).join().stream()
                .map(ParticipantQuery.Seen::participant)
                .toList();
        assertThat(operations.requests()).hasSize(1 + NODES);
        assertThat(all).hasSize(NODES);
        assertThat(all)
                .extracting(Participant::position)
                .isEqualTo(IntStream.range(0, NODES).boxed().toList());
        assertThat(all.stream().filter(Participant::holding)).hasSize(1);
    }

    @Test
    void participantGoneWhenRead_leavesNoGapInThePositions() {
        operations.refuse(Request.READ, Code.OK, Code.NONODE, Code.NOAUTH);
        List<Participant> all = ask(false).join().stream()
                .map(ParticipantQuery.Seen::participant)
                .toList();
        assertThat(all).hasSize(NODES - 1);
        assertThat(all.get(1).node()).isEqualTo("lock-0000000002");
        assertThat(all.get(1).owner()).isEqualTo("unknown");
        assertThat(all)
                .extracting(Participant::position)
                .isEqualTo(IntStream.range(0, NODES - 1).boxed().toList());
    }

    /** The first answer ends it, so what was sent is what was under way. */
    @Test
    void onlySoManyReads_areUnderWayAtATime() {
        operations.refuse(Request.READ, Code.CONNECTIONLOSS);
        CompletableFuture<List<ParticipantQuery.Seen>> answer = ask(false);
        assertThat(Collections.frequency(operations.requests(), Request.READ)).isEqualTo(ParticipantQuery.UNDER_WAY);
        assertThatThrownBy(answer::join).hasCauseInstanceOf(LockConnectionException.class);
    }

    @Test
    void departedCaller_causesNoMoreReads() {
        CompletableFuture<List<ParticipantQuery.Seen>> answer =
                query(false).request().launch();
        answer.cancel(false);
        scheduler.run();
        assertThat(operations.requests()).doesNotContain(Request.READ);
    }
}
