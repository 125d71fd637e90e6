// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.handoff;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.QueueLossPolicy;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.port.Ports;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A node that is kept when nobody in the process has it: who gets it then, and when it is given back. */
class KeepForTest extends QueueScene {
    private static final int MOST = 2;
    private static final int TURNS = HandoffMutex.MOST_HANDOFFS + 1;
    private static final Duration LONG = Duration.ofHours(1);

    private final InterProcessLock mutex = new HandoffMutex(client, PATH, MOST).keepFor(LONG);
    private final ZooKeeperClient elsewhere = Ports.clientBuilder(ensemble.process(scheduler, "two"), scheduler)
            .callbackExecutor(Runnable::run)
            .build();
    private final InterProcessLock rival = new InterProcessMutex(elsewhere, PATH);

    @BeforeEach
    void connect() {
        settle();
    }

    /** Acquires and releases; needs no answer if the node is kept. */
    private long cycle() {
        CompletableFuture<Lease> asked = mutex.acquireAsync();
        if (!asked.isDone()) {
            settle();
        }
        long token = granted(asked).fencingToken();
        var unused = asked.join().closeAsync();
        return token;
    }

    /** Acquires and releases, and leaves time for what follows. */
    private String keep() {
        cycle();
        settle();
        assertThat(nodes()).hasSize(1);
        return nodes().get(0);
    }

    private void assertGivenBack() {
        assertThat(nodes()).isEmpty();
        assertLeftNothing();
    }

    // ---- A local acquire.

    @Test
    void keptNode_servesThisProcess_withoutARequest_andTokensRise() {
        keep();
        sent.clear();
        List<Long> tokens = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            tokens.add(cycle());
        }
        pass(Duration.ofMillis(100));
        assertThat(sent).as("but proofs").doesNotContain(CREATE, "children", "watchChildren", "delete");
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void tryOfThisProcess_getsTheKeptNode_andThatOfAnotherIsToldThatItIsBusy() {
        String kept = keep();
        assertThat(rival.tryAcquire()).isEmpty();
        Lease tried = mutex.tryAcquire().orElseThrow();
        assertThat(tried.guard().getPath()).endsWith(kept);
        assertThat(mutex.acquireAsync()).isNotDone();
        tried.close();
    }

    /** The number of a turn has eleven bits in a token. */
    @Test
    @Tag("H172")
    void node_hasTwoThousandFortyEightTurns_andTheLastGivesItBack() {
        List<Long> tokens = new ArrayList<>();
        tokens.add(cycle());
        sent.clear();
        for (int i = 1; i < TURNS; i++) {
            tokens.add(cycle());
        }
        assertThat(creates()).isZero();
        assertThat(tokens.get(TURNS - 1) - tokens.get(0)).isEqualTo(HandoffMutex.MOST_HANDOFFS);
        settle();
        assertThat(nodes()).isEmpty();
        tokens.add(cycle());
        assertThat(creates()).isEqualTo(1);
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void localWaiters_haveTheirTurns_asWithoutKeeping() {
        List<CompletableFuture<Lease>> all = ask(mutex, MOST + 1);
        all.forEach(this::giveBack);
        assertThat(nodes()).as("passed on as often as it may be").isEmpty();
        assertLeftNothing();
    }

    /** Nobody was told of it. The list with which the keep begins shows it. */
    @Test
    @Tag("H174")
    void nodeThatIsGoneBeforeItIsKept_isLost_andItsWatchGoes() {
        CompletableFuture<Lease> asked = mutex.acquireAsync();
        settle();
        Lease lease = granted(asked);
        ensemble.deleteNodeUntold(PATH + "/" + nodes().get(0));
        settle();
        var unused = lease.closeAsync();
        settle();
        assertThat(process.watches()).isZero();
        assertGivenBack();
    }

    // ---- Somebody else.

    @Test
    @Tag("H170")
    void othersWhoCome_getItAtOnce() {
        keep();
        CompletableFuture<Lease> other = ask(rival, 1).get(0);
        giveBack(other);
        assertGivenBack();
    }

    @Test
    @Tag("H170")
    void anotherLockOfThisClient_getsItAtOnce() {
        keep();
        giveBack(ask(new InterProcessMutex(client, PATH), 1).get(0));
        giveBack(ask(new HandoffMutex(client, PATH, MOST), 1).get(0));
        assertGivenBack();
    }

    @ParameterizedTest
    @Tag("H170")
    @EnumSource(
            value = Code.class,
            names = {"CONNECTIONLOSS", "NOAUTH"})
    void listThatCannotBeHad_givesItBack(Code code) {
        refusals.put("watchChildren", code);
        cycle();
        settle();
        assertThat(sent.contains("dropWatch")).as("it may be set").isEqualTo(code == Code.CONNECTIONLOSS);
        assertGivenBack();
    }

    /** What has happened meanwhile is told in any order, if at all. */
    @Test
    @Tag("H170")
    void newConnection_givesItBack() {
        keep();
        process.disconnect();
        pass(SESSION.dividedBy(2));
        assertGivenBack();
    }

    @Test
    @Tag("H173")
    void othersWhoCome_waitForThePresentHolderOnly() {
        String kept = keep();
        CompletableFuture<Lease> present = ask(mutex, 1).get(0);
        CompletableFuture<Lease> other = ask(rival, 1).get(0);
        List<CompletableFuture<Lease>> late = ask(mutex, 2);
        assertThat(node(present)).endsWith(kept);
        giveBack(present);
        assertThat(late).noneMatch(CompletableFuture::isDone);
        giveBack(other);
        late.forEach(this::giveBack);
    }

    /**
     * They stand in the list that the keep begins with, so the watch would never tell of them. A node that was kept
     * before is not kept again.
     */
    @ParameterizedTest
    @Tag("H170")
    @ValueSource(booleans = {true, false})
    void othersWhoComeWhileItIsHeld_getItWithItsRelease(boolean wasKept) {
        if (wasKept) {
            keep();
        }
        CompletableFuture<Lease> present = ask(mutex, 1).get(0);
        CompletableFuture<Lease> other = ask(rival, 1).get(0);
        giveBack(present);
        giveBack(other);
        assertGivenBack();
    }

    /** Such a child may stand there for ever. */
    @Test
    void childThatIsNoLockNode_isNobody() {
        giveBack(ask(new InterProcessMutex(elsewhere, PATH + "/below"), 1).get(0));
        cycle();
        settle();
        assertThat(nodes()).hasSize(2).contains("below");
    }

    /** The server drops the event if the client may not read the path at that moment. */
    @Test
    @Tag("H170")
    void othersOfWhomNoEventTells_getItSomeMinutesLater() {
        hasEvents = false;
        keep();
        CompletableFuture<Lease> other = ask(rival, 1).get(0);
        assertThat(other).isNotDone();
        pass(Duration.ofMinutes(2));
        giveBack(other);
        assertGivenBack();
    }

    @Test
    @Tag("H170")
    void pathThatMayNotBeReadAnyMore_isGivenUp() {
        hasEvents = false;
        keep();
        refusals.put("watchChildren", Code.NOAUTH);
        pass(Duration.ofMinutes(2));
        assertGivenBack();
    }

    // ---- Its time.

    @Test
    @Tag("H174")
    void nodeThatNobodyUses_isGivenBackInTime() {
        keep();
        pass(LONG.dividedBy(2));
        keep();
        pass(LONG.minus(Duration.ofSeconds(2)));
        assertThat(nodes()).as("used in between").hasSize(1);
        pass(Duration.ofSeconds(2));
        assertGivenBack();
    }

    @Test
    @Tag("H174")
    void timeThatEndsWhileItIsHeld_beginsAnewWithTheRelease() {
        keep();
        CompletableFuture<Lease> held = ask(mutex, 1).get(0);
        pass(LONG.multipliedBy(2));
        assertThat(granted(held).isValid()).isTrue();
        giveBack(held);
        pass(LONG.dividedBy(2));
        assertThat(nodes()).hasSize(1);
        pass(LONG.dividedBy(2));
        assertGivenBack();
    }

    @Test
    @Tag("H174")
    void askedBack_isGivenBack() throws InterruptedException {
        keep();
        var unused = new Revoker(elsewhere).request(rival);
        pass(SESSION.dividedBy(6));
        assertGivenBack();
    }

    /** It was lost meanwhile, and another thread has the lock. */
    @Test
    @Tag("H210")
    void threadThatIsLateWithALostTry_doesNotDisplaceTheNextLease() {
        List<CompletableFuture<Lease>> next = new ArrayList<>();
        whenThreadIsLate = () -> {
            ensemble.expire(process.sessionId());
            pass(SESSION.multipliedBy(2));
            next.addAll(ask(mutex, 1));
            assertThat(next.get(0)).isCompleted();
        };
        Lease tried = mutex.tryAcquire().orElseThrow();
        assertThat(tried.state()).isEqualTo(LeaseState.LOST);
        tried.close();
        giveBack(next.get(0));
        giveBack(ask(mutex, 1).get(0));
        pass(LONG);
        assertGivenBack();
    }

    /** Another process got the lock after that loss. Only then did a request of this one begin to wait: it lost nothing. */
    @Test
    @Tag("H233")
    void threadThatIsLateWithALostTry_failsNoRequestThatCameSince() {
        LockOptions failing = LockOptions.defaults().withQueueLossPolicy(QueueLossPolicy.FAIL);
        InterProcessLock strict = new HandoffMutex(client, PATH, MOST, failing);
        List<CompletableFuture<Lease>> next = new ArrayList<>();
        whenThreadIsLate = () -> {
            ensemble.expire(process.sessionId());
            pass(SESSION.multipliedBy(2));
            next.addAll(ask(rival, 1));
            next.addAll(ask(strict, 1));
            assertThat(next.get(0)).isCompleted();
        };
        Lease tried = strict.tryAcquire().orElseThrow();
        assertThat(tried.state()).isEqualTo(LeaseState.LOST);
        tried.close();
        settle();
        assertThat(next.get(1)).isNotDone();
        giveBack(next.get(0));
        giveBack(next.get(1));
        assertGivenBack();
    }

    /** Its node was deleted while nobody was told, so the lease seems to be held when the next one is. */
    @Test
    @Tag("H210")
    void leaseOfALateTry_isNotKeptBesideTheNextOne() {
        List<CompletableFuture<Lease>> next = new ArrayList<>();
        whenThreadIsLate = () -> {
            ensemble.deleteNodeUntold(PATH + "/" + nodes().get(0));
            next.addAll(ask(mutex, 1));
            assertThat(next.get(0)).isCompleted();
        };
        Lease tried = mutex.tryAcquire().orElseThrow();
        assertThat(tried.state()).isEqualTo(LeaseState.HELD);
        sent.clear();
        tried.close();
        settle();
        assertThat(sent).contains("delete");
        giveBack(next.get(0));
        pass(LONG);
        assertGivenBack();
    }

    // ---- A lease that is not proven.

    @Test
    @Tag("H171")
    void leaseThatIsNotProven_isNotGranted() {
        String kept = keep();
        process.cutOff(SESSION.multipliedBy(3).dividedBy(4));
        pass(SESSION.multipliedBy(2).dividedBy(3));
        CompletableFuture<Lease> asked = ask(mutex, 1).get(0);
        assertThat(asked).isNotDone();
        assertThatThrownBy(mutex::tryAcquire).isInstanceOf(LockConnectionException.class);
        pass(SESSION);
        assertThat(node(asked)).doesNotEndWith(kept);
        giveBack(asked);
    }

    /** Nobody has told it that the session has ended, and nobody holds a lease that could say so. */
    @Test
    @Tag("H171")
    void leaseThatIsLost_isNotGranted_andFailsNobody() {
        LockOptions failing = LockOptions.defaults().withQueueLossPolicy(QueueLossPolicy.FAIL);
        InterProcessLock strict = new HandoffMutex(client, PATH, MOST, failing).keepFor(LONG);
        giveBack(ask(strict, 1).get(0));
        String kept = nodes().get(0);
        ensemble.expire(process.sessionId());
        pass(SESSION.multipliedBy(2));
        CompletableFuture<Lease> asked = ask(strict, 1).get(0);
        assertThat(node(asked)).doesNotEndWith(kept);
        assertThat(granted(asked).state()).isEqualTo(LeaseState.HELD);
        giveBack(asked);
    }

    @Test
    @Tag("H171")
    void nodeThatAnOperatorDeletes_isNotGranted() {
        String kept = keep();
        ensemble.deleteNode(PATH + "/" + kept);
        settle();
        CompletableFuture<Lease> asked = ask(mutex, 1).get(0);
        assertThat(node(asked)).doesNotEndWith(kept);
        giveBack(asked);
    }

    /** The watch that reads requests to give it back tells of it, and no check has to find out. */
    @Test
    @Tag("H171")
    void nodeThatAnOperatorDeletes_isLostAtOnce() {
        String kept = keep();
        pass(SESSION.dividedBy(5));
        Lease present = granted(ask(mutex, 1).get(0));
        sent.clear();
        ensemble.deleteNode(PATH + "/" + kept);
        pass(Duration.ofMillis(50));
        assertThat(sent).doesNotContain("multi");
        assertThat(present.state()).isEqualTo(LeaseState.LOST);
    }

    @Test
    void closedClient_givesItBack_andGrantsNothing() {
        keep();
        client.close();
        settle();
        assertThat(nodes()).isEmpty();
        assertThatThrownBy(mutex::acquireAsync).isInstanceOf(ClientClosedException.class);
    }

    @Test
    void leaseOfALockOnTopOfAnother_isNotWatched() {
        Lease lease = granted(ask(mutex, 1).get(0));
        assertThatIllegalArgumentException().isThrownBy(() -> LockInternals.whenWanted(lease, () -> {}));
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT0S", "PT-1S", "PT0.000999999S", "PT24H0.000000001S"})
    void timeOutOfBounds_isRefused(Duration time) {
        HandoffMutex plain = new HandoffMutex(client, PATH, MOST);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> plain.keepFor(time))
                .withMessageContaining("from 1 millisecond to a day");
    }
}
