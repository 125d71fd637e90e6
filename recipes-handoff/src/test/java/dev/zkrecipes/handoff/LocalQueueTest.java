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
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.QueueLossPolicy;
import dev.zkrecipes.core.QueuePlaceLostException;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.port.Ports;
import dev.zkrecipes.explore.sim.SimulatedProcess;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Who is served, when a node is asked for, and whom a failure reaches. Nothing happens but what a test does. */
class LocalQueueTest extends QueueScene {
    private static final int MOST = 2;

    private final InterProcessLock mutex = new HandoffMutex(client, PATH, MOST);

    private List<CompletableFuture<Lease>> ask(int count) {
        return ask(mutex, count);
    }

    @Test
    void requests_areServedInOrderOfArrival_withRisingTokens_threePerNode() {
        List<Long> tokens = new ArrayList<>();
        List<CompletableFuture<Lease>> all = ask(2 * (MOST + 1));
        for (int i = 0; i < all.size(); i++) {
            tokens.add(granted(all.get(i)).fencingToken());
            assertThat(all.subList(i + 1, all.size())).noneMatch(CompletableFuture::isDone);
            giveBack(all.get(i));
        }
        assertThat(tokens).isSorted().doesNotHaveDuplicates();
        assertThat(tokens).extracting(token -> token % 2048).containsExactly(0L, 1L, 2L, 0L, 1L, 2L);
        assertLeftNothing();
    }

    @Test
    void secondNode_isAskedFor_onlyWhileMoreWaitThanTheFirstCanServe() {
        List<CompletableFuture<Lease>> all = new ArrayList<>(ask(1 + MOST));
        assertThat(nodes()).hasSize(1);
        all.addAll(ask(1));
        assertThat(nodes()).hasSize(2);
        all.addAll(ask(10));
        assertThat(nodes()).hasSize(2);
        all.subList(2, all.size()).forEach(each -> each.cancel(false));
        settle();
        assertThat(nodes()).as("somebody waits").hasSize(2);
        all.get(1).cancel(false);
        settle();
        assertThat(nodes()).as("nobody waits").hasSize(1);
        giveBack(all.get(0));
        assertLeftNothing();
    }

    @Test
    void cancelledRequest_isPassedOver() {
        List<CompletableFuture<Lease>> all = ask(3);
        all.get(1).cancel(false);
        giveBack(all.get(0));
        giveBack(all.get(2));
        assertLeftNothing();
    }

    /** The caller gets one of the two. The interrupt is not swallowed with the other. */
    @Test
    void requestThatFailsJustWhenItsThreadIsInterrupted_keepsTheInterrupt() {
        settle();
        refusals.put(CREATE, Code.NOAUTH);
        whenThreadIsLate = this::settle;
        scheduler.after(Duration.ZERO, Thread.currentThread()::interrupt);
        assertThatThrownBy(mutex::acquire).isInstanceOf(InterruptedException.class);
    }

    /** It is released just when the next request is cancelled and still stands in the queue. */
    @Test
    void requestThatIsJustBeingCancelled_swallowsNoTurn() {
        List<CompletableFuture<Lease>> all = ask(3);
        long token = granted(all.get(0)).fencingToken();
        whenOneGivesUp = () -> {
            var unused = granted(all.get(0)).closeAsync();
        };
        all.get(1).cancel(false);
        assertThat(granted(all.get(2)).fencingToken()).isEqualTo(token + 1);
        giveBack(all.get(2));
        assertLeftNothing();
    }

    /** The next holder is done before the thread that handed over has said so: nobody is taken to be waiting. */
    @Test
    @Tag("H125")
    void servedRequest_isNotTakenForOneThatWaits() {
        List<CompletableFuture<Lease>> all = ask(2);
        long before = creates();
        CompletableFuture<Void> given = all.get(1).thenAccept(lease -> {
            var unused = lease.closeAsync();
            settle();
        });
        giveBack(all.get(0));
        assertThat(given).isCompleted();
        assertThat(creates()).isEqualTo(before);
        assertLeftNothing();
    }

    @Test
    void try_neitherWaitsNorOvertakes_andWhatItAcquires_isPassedOn() throws InterruptedException {
        settle(); // it is connected
        Lease tried = mutex.tryAcquire().orElseThrow();
        CompletableFuture<Lease> next = ask(1).get(0);
        tried.close();
        settle();
        assertThat(granted(next).fencingToken() % 2048).isEqualTo(1);
        giveBack(next);
        assertLeftNothing();
    }

    @Test
    void refusal_isTheFirstOnes_andTheNextIsAskedForItself() {
        refusals.put(CREATE, Code.NOAUTH);
        List<CompletableFuture<Lease>> all = ask(2);
        assertThatThrownBy(all.get(0)::join).hasCauseInstanceOf(LockAccessException.class);
        giveBack(all.get(1));
        assertLeftNothing();
    }

    @Test
    void deletedNode_isLostByItsHolder_andTheOthersWaitForAnother() {
        List<CompletableFuture<Lease>> all = ask(2);
        ensemble.deleteNode(PATH + "/" + nodes().get(0));
        settle();
        assertThat(granted(all.get(0)).state()).isEqualTo(LeaseState.LOST);
        assertThat(granted(all.get(1)).isValid()).isTrue();
        giveBack(all.get(0));
        giveBack(all.get(1));
        assertLeftNothing();
    }

    @Test
    void endOfTheSession_failsThoseThatWaitUnderPolicyFail_eachByAnErrorOfItsOwn() {
        LockOptions failing = LockOptions.defaults().withQueueLossPolicy(QueueLossPolicy.FAIL);
        InterProcessLock strict = new HandoffMutex(client, PATH, MOST, failing);
        List<CompletableFuture<Lease>> all =
                Stream.generate(strict::acquireAsync).limit(5).toList();
        settle();
        ensemble.expire(process.sessionId());
        pass(SESSION);
        List<Throwable> told = all.subList(1, 5).stream()
                .map(each -> each.handle((lease, failure) -> failure).join())
                .toList();
        assertThat(told).allMatch(QueuePlaceLostException.class::isInstance).doesNotHaveDuplicates();
    }

    @Test
    void askedBack_itsHolderIsTold_andNobodyElseHasATurn() throws InterruptedException {
        List<CompletableFuture<Lease>> all = ask(3);
        List<RevocationRequest> heard = new ArrayList<>();
        granted(all.get(0)).onRevocationRequested(heard::add);
        var unused = new Revoker(client).request(mutex);
        settle();
        assertThat(heard).hasSize(1);
        String first = node(all.get(0));
        giveBack(all.get(0));
        assertThat(node(all.get(1))).isNotEqualTo(first);
        giveBack(all.get(1));
        giveBack(all.get(2));
        assertThat(heard).hasSize(1);
        assertLeftNothing();
    }

    /** The watch is there because somebody waits. */
    @Test
    void askedBack_whileNobodyListens_isNotPassedOn() throws InterruptedException {
        List<CompletableFuture<Lease>> all = ask(2);
        String first = node(all.get(0));
        var unused = new Revoker(client).request(mutex);
        settle();
        giveBack(all.get(0));
        assertThat(node(all.get(1))).isNotEqualTo(first);
        giveBack(all.get(1));
        assertLeftNothing();
    }

    @Test
    void leaseThatIsNotProven_isNotPassedOn_andATimedRequestSaysThatItCannotKnow() {
        List<CompletableFuture<Lease>> all = ask(2);
        String first = node(all.get(0));
        process.cutOff(SESSION.multipliedBy(3).dividedBy(4));
        pass(SESSION.multipliedBy(2).dividedBy(3));
        assertThat(granted(all.get(0)).state()).isEqualTo(LeaseState.SUSPENDED);
        assertThatThrownBy(() -> mutex.tryAcquire(Duration.ofMillis(1))).isInstanceOf(LockConnectionException.class);
        var unused = granted(all.get(0)).closeAsync();
        assertThat(all.get(1)).isNotDone();
        pass(SESSION);
        assertThat(node(all.get(1))).isNotEqualTo(first);
        giveBack(all.get(1));
        assertLeftNothing();
    }

    @Test
    void timedRequest_behindAnotherOfTheProcess_isTold_thatTheLockIsBusy() throws InterruptedException {
        List<CompletableFuture<Lease>> all = ask(1);
        assertThat(mutex.tryAcquire(Duration.ofMillis(10))).isEmpty();
        assertThat(mutex.tryAcquire()).isEmpty();
        giveBack(all.get(0));
        assertLeftNothing();
    }

    @Test
    void holderWhoseTimeIsOver_takesTheNodeWithIt_soThatItsGuardFails() {
        Duration most = Duration.ofSeconds(1);
        InterProcessLock limited =
                new HandoffMutex(client, PATH, MOST, LockOptions.defaults().withHoldAtMost(most));
        CompletableFuture<Lease> first = limited.acquireAsync();
        CompletableFuture<Lease> second = limited.acquireAsync();
        settle();
        String node = node(first);
        pass(most);
        assertThat(granted(first).state()).isEqualTo(LeaseState.LOST);
        assertThat(ensemble.committed().exists(node)).isFalse();
        assertThat(node(second)).isNotEqualTo(node);
        giveBack(second);
        assertLeftNothing();
    }

    /** Those that the second holder lets in, and those that these let in, would stand on one stack. */
    @Test
    void holdersThatReleaseInTheMiddleOfTheGrant_areAllServed() {
        InterProcessLock often = new HandoffMutex(client, PATH, HandoffMutex.MOST_HANDOFFS);
        CompletableFuture<Lease> first = often.acquireAsync();
        List<CompletableFuture<Lease>> others =
                Stream.generate(often::acquireAsync).limit(2000).toList();
        settle();
        List<CompletableFuture<Void>> given =
                others.stream().map(each -> each.thenCompose(Lease::closeAsync)).toList();
        giveBack(first);
        pass(Duration.ofHours(1));
        assertThat(given).allMatch(each -> each.isDone() && !each.isCompletedExceptionally());
        assertLeftNothing();
    }

    @Test
    void deletedNode_costsThoseBehindItTheirPlace_underPolicyFail() {
        LockOptions failing = LockOptions.defaults().withQueueLossPolicy(QueueLossPolicy.FAIL);
        InterProcessLock strict = new HandoffMutex(client, PATH, MOST, failing);
        CompletableFuture<Lease> first = strict.acquireAsync();
        CompletableFuture<Lease> second = strict.acquireAsync();
        settle();
        ensemble.deleteNode(node(first));
        settle();
        assertThatThrownBy(second::join).hasCauseInstanceOf(QueuePlaceLostException.class);
        giveBack(first);
        assertLeftNothing();
    }

    @Test
    void closedClient_tellsEverybody() {
        List<CompletableFuture<Lease>> all = ask(5);
        client.close();
        settle();
        assertThat(granted(all.get(0)).state()).isEqualTo(LeaseState.LOST);
        assertThat(all.subList(1, 5))
                .allSatisfy(each -> assertThatThrownBy(each::join).hasCauseInstanceOf(ClientClosedException.class));
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, 2048, Integer.MAX_VALUE})
    void numberOutOfBounds_isRefused(int most) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new HandoffMutex(client, PATH, most))
                .withMessageContaining("from 1 to 2047");
    }

    /** So a thread gets the lock also while callbacks of the application block all of their threads. */
    @Test
    @Tag("H76")
    void turnsNeedNoCallbackThread() {
        List<Runnable> callbacks = new ArrayList<>();
        SimulatedProcess other = ensemble.process(scheduler, "two");
        ZooKeeperClient busy = Ports.clientBuilder(other, scheduler)
                .callbackExecutor(callbacks::add)
                .build();
        CompletableFuture<Lease> asked = new HandoffMutex(busy, PATH, MOST).acquireAsync();
        settle();
        assertThat(callbacks).hasSize(1); // that of the future
        callbacks.get(0).run();
        granted(asked);
    }
}
