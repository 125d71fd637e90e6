// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.clean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ClientScene;
import dev.zkrecipes.core.internal.PrintedWhile;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.client.LivingSessions;
import dev.zkrecipes.core.internal.hold.HeldNode;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.session.SessionNodes;
import dev.zkrecipes.core.internal.source.SessionSource;
import dev.zkrecipes.core.internal.thread.Pauses;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.NodeId;
import dev.zkrecipes.core.spi.port.Ports;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import org.apache.zookeeper.KeeperException.Code;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("H40")
class NodeCleanerTest extends ClientScene {
    private static final String PATH = "/locks/orders";

    private final EngineClient engine = EngineClient.of(client);

    @BeforeEach
    void connect() {
        scheduler.run();
    }

    @Test
    void requestsThatAreGivenUpBeforeTheirAnswer_areDeletedAHundredAtATime() {
        operations.delayAnswersOf(Request.CREATE, Duration.ofSeconds(1));
        List<CompletableFuture<Lease>> many =
                IntStream.range(0, 250).mapToObj(i -> acquire()).toList();
        many.forEach(each -> each.cancel(true));
        scheduler.run();
        operations.delayAnswersOf(Request.DELETE, Duration.ofSeconds(1));
        operations.requests();
        scheduler.advance(Duration.ofMillis(1500));
        assertThat(operations.requests()).filteredOn(Request.DELETE::equals).hasSize(100);
        scheduler.advance(Duration.ofSeconds(3));
        assertThat(operations.nodes()).isEmpty();
    }

    private CompletableFuture<Lease> acquire() {
        return asked(lock(PATH));
    }

    @CanIgnoreReturnValue
    private CompletableFuture<Void> giveBack(CompletableFuture<Lease> granted) {
        CompletableFuture<Void> closed = granted.join().closeAsync();
        scheduler.run();
        return closed;
    }

    private void assertClean() {
        assertThat(operations.nodes()).isEmpty();
        assertThat(engine.cleaner().isEmpty()).isTrue();
    }

    @Test
    void lostDeletion_isRepeatedUntilConfirmed() {
        CompletableFuture<Lease> lease = acquire();
        operations.refuse(Request.DELETE, Code.CONNECTIONLOSS, Code.CONNECTIONLOSS);
        CompletableFuture<Void> closed = giveBack(lease);
        assertThat(closed).isNotDone();
        assertThat(engine.cleaner().isEmpty()).isFalse();
        scheduler.advance(Duration.ofSeconds(20));
        assertThat(closed).isCompleted();
        assertClean();
    }

    @Test
    void waitingDeletion_isSentBeforeARequestQueuesOnThePath() {
        CompletableFuture<Lease> lease = acquire();
        operations.refuse(Request.DELETE, Code.CONNECTIONLOSS);
        CompletableFuture<Void> closed = giveBack(lease);
        operations.requests();
        assertThat(acquire()).isCompleted();
        assertThat(operations.requests()).startsWith(Request.DELETE, Request.WATCH, Request.CREATE, Request.LIST);
        assertThat(closed).isCompleted();
    }

    @Test
    @Tag("H47")
    void refusedDeletion_isReportedAndRepeatedSlowly() {
        CompletableFuture<Lease> lease = acquire();
        operations.refuse(Request.DELETE, Code.NOAUTH);
        operations.refuse(Request.MULTI, Code.NOAUTH);
        String printed = PrintedWhile.running(() -> giveBack(lease));
        assertThat(lease.join().closeAsync())
                .failsWithin(Duration.ZERO)
                .withThrowableOfType(ExecutionException.class)
                .extracting(Throwable::getCause, InstanceOfAssertFactories.THROWABLE)
                .isExactlyInstanceOf(LockAccessException.class)
                .hasMessageContaining("refuses to delete the lock node " + PATH);
        assertThat(printed)
                .as("who has just given up has no future that tells")
                .containsOnlyOnce("refuses to delete the lock node " + PATH);
        operations.requests();
        scheduler.advance(engine.requestTimeout().minusMillis(1));
        assertThat(operations.requests()).isEmpty();
        scheduler.advance(engine.requestTimeout().multipliedBy(2).plusMillis(2));
        assertThat(operations.requests())
                .as("not plain deletes any more; a read tells whether the node is there")
                .containsExactly(Request.MULTI, Request.READ, Request.MULTI);
        assertClean();
    }

    @Test
    @Tag("H81")
    void refusedDeletion_endsWhenTheNodeIsGone() {
        CompletableFuture<Lease> lease = acquire();
        String node = operations.nodes().get(0);
        operations.refuse(Request.DELETE, Code.NOAUTH);
        operations.refuse(Request.MULTI, Code.NOAUTH, Code.NOAUTH, Code.NOAUTH);
        giveBack(lease);
        scheduler.advance(engine.requestTimeout().multipliedBy(4));
        assertThat(engine.cleaner().isEmpty()).isFalse();
        operations.remove(node);
        scheduler.advance(engine.requestTimeout().multipliedBy(8));
        assertThat(engine.cleaner().isEmpty()).as("though it is refused still").isTrue();
        operations.requests();
        scheduler.advance(Duration.ofMinutes(10));
        assertThat(operations.requests()).isEmpty();
    }

    @Test
    @Tag("H81")
    void deletionOfAMissingNode_isNotReportedAsRefused() {
        CompletableFuture<Lease> lease = acquire();
        operations.remove(operations.nodes().get(0));
        operations.refuse(Request.DELETE, Code.NOAUTH);
        assertThat(giveBack(lease)).isCompleted();
        assertClean();
    }

    @Test
    @Tag("H81")
    void deletion_whenTheCredentialsOfTheNextSessionAreRefused_isLeftToTheServer() {
        CompletableFuture<Lease> lease = acquire();
        operations.refuse(Request.DELETE, Code.CONNECTIONLOSS, Code.AUTHFAILED);
        CompletableFuture<Void> closed = giveBack(lease);
        become(State.EXPIRED);
        scheduler.run();
        become(State.CONNECTED);
        operations.requests();
        scheduler.advance(Duration.ofMillis(100));
        assertThat(operations.requests()).containsExactly(Request.DELETE);
        assertThat(closed).isNotDone();
        scheduler.advance(operations.sessionTimeout().multipliedBy(2));
        assertThat(closed).isCompleted();
        assertThat(engine.cleaner().isEmpty()).isTrue();
    }

    @Test
    @Tag("H81")
    void refusedDeletionsOnOnePath_takeTurns_andFollowAtOnceWhenOneSucceeds() {
        List<CompletableFuture<Lease>> leases = List.of(acquireShared(), acquireShared(), acquireShared());
        operations.refuse(Request.DELETE, Code.NOAUTH);
        operations.refuse(Request.MULTI, Code.NOAUTH, Code.NOAUTH, Code.NOAUTH);
        leases.forEach(this::giveBack);
        operations.requests();
        scheduler.advance(engine.requestTimeout().plusMillis(1));
        assertThat(operations.requests()).as("one of three is tried").containsExactly(Request.MULTI, Request.READ);
        scheduler.advance(engine.requestTimeout().multipliedBy(2).plusMillis(1));
        assertThat(operations.requests())
                .as("the rights are given back")
                .containsExactly(Request.MULTI, Request.MULTI, Request.MULTI);
        assertClean();
    }

    private CompletableFuture<Lease> acquireShared() {
        return acquireShared(PATH);
    }

    private CompletableFuture<Lease> acquireShared(String path) {
        return asked(internals(path, new TestDriver("lock-", Integer.MAX_VALUE)).unowned());
    }

    /** Otherwise the next in line would wait until the refused deletion has its turn. */
    @Test
    void refusedDeletion_isRepeatedAtOnceWhenSomebodyDeletesTheNode_andTheNextIsGranted() {
        CompletableFuture<Lease> lease = acquire();
        CompletableFuture<Lease> next = acquire(); // of an asynchronous request, which does not re-enter
        operations.refuse(Request.DELETE, Code.NOAUTH);
        giveBack(lease);
        assertThat(next).isNotDone();
        operations.nodes().stream().filter(NodeCleanerTest::isFirst).forEach(operations::remove);
        scheduler.run();
        assertThat(next).isCompleted();
        assertThat(engine.cleaner().isEmpty()).isTrue();
    }

    @Test
    void refusal_isToldToEachByAnErrorOfItsOwn() {
        operations.refuse(Request.DELETE, Code.NOAUTH);
        giveBack(acquire());
        LockException first = engine.cleaner().refusalOn(PATH).orElseThrow();
        LockException second = engine.cleaner().refusalOn(PATH).orElseThrow();
        assertThat(first).isNotSameAs(second).hasMessage(second.getMessage());
    }

    @Test
    void containerWhoseCreateGotNoAnswer_isDeleted() {
        operations.refuse(Request.CREATE, Code.NONODE);
        operations.refuse(Request.MULTI, Code.NONODE); // so is the folder
        operations.loseAnswerOf(Request.MAKE_PATH);
        CompletableFuture<Lease> wanted = acquire();
        operations.requests();
        wanted.cancel(false);
        scheduler.run();
        assertThat(operations.requests()).as("the deletion").containsExactly(Request.MULTI);
        assertThat(engine.cleaner().isEmpty()).isTrue();
    }

    @Test
    @Tag("H87")
    void containerOfANodeThatWasNeverMade_isDeleted() {
        operations.refuse(Request.CREATE, Code.NONODE);
        operations.refuse(Request.MULTI, Code.NONODE); // so is the folder
        operations.loseAnswerOf(Request.MAKE_PATH);
        CompletableFuture<Lease> wanted = acquire();
        operations.refuse(Request.CREATE, Code.CONNECTIONLOSS);
        scheduler.advance(Duration.ofMillis(30)); // the path is there, the request for the node is lost
        operations.requests();
        wanted.cancel(false);
        scheduler.run();
        assertThat(operations.requests())
                .as("the write, the list behind it, and the deletion")
                .containsExactly(Request.MULTI, Request.LIST, Request.MULTI);
        assertThat(engine.cleaner().isEmpty()).isTrue();
    }

    @Test
    @Tag("H87")
    void containerThatIsBeingMade_whenItsRequestIsGivenUp_isDeleted() {
        operations.refuse(Request.CREATE, Code.NONODE);
        operations.refuse(Request.MULTI, Code.NONODE); // so is the folder
        operations.loseAnswerOf(Request.MAKE_PATH);
        operations.delayAnswerOf(Request.MAKE_PATH, Duration.ofSeconds(1));
        CompletableFuture<Lease> wanted = acquire();
        wanted.cancel(false);
        scheduler.run();
        operations.requests();
        scheduler.advance(Duration.ofSeconds(1));
        assertThat(operations.requests()).as("the deletion").containsExactly(Request.MULTI);
        assertThat(engine.cleaner().isEmpty()).isTrue();
    }

    @Test
    @Tag("H88")
    void ofSeveralUndeletableNodes_theOldestIsNamed() {
        List<CompletableFuture<Lease>> leases = List.of(acquireShared(), acquireShared());
        String oldest = PATH + "/" + operations.nodes().get(0);
        operations.refuse(Request.DELETE, Code.NOAUTH);
        operations.refuse(Request.MULTI, Code.NOAUTH, Code.NOAUTH, Code.NOAUTH, Code.NOAUTH);
        assertThat(engine.cleaner().refusalOn(PATH)).isEmpty();
        leases.forEach(this::giveBack);
        for (int turn = 0; turn < 2; turn++) {
            assertThat(engine.cleaner().refusalOn(PATH))
                    .get(InstanceOfAssertFactories.THROWABLE)
                    .isInstanceOf(LockAccessException.class)
                    .hasMessageContaining(oldest);
            assertThat(engine.cleaner().refusalOn(PATH + "/another")).isEmpty();
            scheduler.advance(engine.requestTimeout().multipliedBy(turn + 1).plusMillis(1));
        }
        operations.remove(operations.nodes().get(0));
        operations.remove(operations.nodes().get(0));
        scheduler.advance(engine.requestTimeout().multipliedBy(16));
        assertThat(engine.cleaner().refusalOn(PATH)).isEmpty();
    }

    @Test
    @Tag("H88")
    void nodeUnderDeletion_isLeaving_inTheSessionOfTheDeletion() {
        CompletableFuture<Lease> lease = acquire();
        String node = operations.nodes().get(0);
        operations.delayAnswerOf(Request.DELETE, Duration.ofSeconds(1));
        assertThat(engine.cleaner().leaving(PATH, session())).isEmpty();
        giveBack(lease);
        assertThat(engine.cleaner().leaving(PATH, session())).containsExactly(node);
        assertThat(engine.cleaner().leaving("/locks/others", session())).isEmpty();
        assertThat(engine.cleaner().leaving(PATH, sessionOfAnother())).isEmpty();
        scheduler.advance(Duration.ofSeconds(1));
        assertThat(engine.cleaner().leaving(PATH, session())).isEmpty();
        assertClean();
    }

    @Test
    @Tag("H88")
    void nodeWithARefusedDeletion_isNotLeaving() {
        CompletableFuture<Lease> lease = acquire();
        operations.refuse(Request.DELETE, Code.NOAUTH);
        giveBack(lease);
        operations.delayAnswerOf(Request.MULTI, Duration.ofSeconds(1));
        operations.requests();
        scheduler.advance(engine.requestTimeout().plusMillis(1));
        assertThat(operations.requests()).containsExactly(Request.MULTI);
        assertThat(engine.cleaner().leaving(PATH, session())).isEmpty();
        scheduler.advance(Duration.ofSeconds(1));
        assertClean();
    }

    @Test
    @Tag("H88")
    void nodeWithALostDeletion_isNotLeaving_untilItIsSentAgain() {
        CompletableFuture<Lease> lease = acquire();
        operations.refuse(Request.DELETE, Code.CONNECTIONLOSS);
        giveBack(lease);
        assertThat(engine.cleaner().leaving(PATH, session())).isEmpty();
        operations.delayAnswerOf(Request.DELETE, Duration.ofSeconds(1));
        engine.cleaner().flush(List.of(PATH));
        assertThat(engine.cleaner().leaving(PATH, session())).hasSize(1);
    }

    @Test
    @Tag("H88")
    void abandonedCreate_isDeletedAsSoonAsItIsAnswered() {
        operations.delayAnswerOf(Request.CREATE, Duration.ofSeconds(1));
        operations.delayAnswerOf(Request.LIST, Duration.ofSeconds(2));
        CompletableFuture<Lease> wanted = acquire();
        wanted.cancel(false);
        scheduler.run();
        operations.delayAnswerOf(Request.DELETE, Duration.ofSeconds(1));
        operations.requests();
        scheduler.advance(Duration.ofSeconds(1));
        assertThat(operations.requests()).containsExactly(Request.DELETE);
        assertThat(engine.cleaner().leaving(PATH, session())).hasSize(1);
        scheduler.advance(Duration.ofSeconds(1));
        assertClean();
    }

    private Session sessionOfAnother() {
        ZooKeeperClient another =
                Ports.clientBuilder(states -> operations, scheduler).build();
        scheduler.run();
        return LivingSessions.of(EngineClient.of(another)).get(0);
    }

    private Session session() {
        return LivingSessions.of(engine).get(0);
    }

    /** Sends a create whose answer is lost, gives it up, and ends the session before it is known what became of it. */
    private void loseACreateAndItsSession() {
        operations.loseAnswerOf(Request.CREATE);
        operations.refuse(Request.LIST, Code.CONNECTIONLOSS, Code.CONNECTIONLOSS, Code.CONNECTIONLOSS);
        CompletableFuture<Lease> wanted = acquire();
        wanted.cancel(false);
        scheduler.run();
        become(State.EXPIRED);
        operations.show(names -> List.of());
        scheduler.run();
        become(State.CONNECTED);
    }

    @Test
    @Tag("H59")
    void nodeOfALostCreate_isLookedForUntilTheServerMustHaveEndedItsSession() {
        loseACreateAndItsSession();
        Duration end = operations.sessionTimeout().multipliedBy(3).dividedBy(2);
        scheduler.advance(end.minusMillis(10));
        assertThat(engine.cleaner().isEmpty()).isFalse();
        scheduler.advance(Duration.ofSeconds(5));
        assertThat(engine.cleaner().isEmpty()).isTrue();
        assertThat(operations.deleted()).isEmpty();
    }

    @Test
    @Tag("H59")
    void nodeOfALostCreate_thatTurnsUpLate_isDeleted() {
        loseACreateAndItsSession();
        scheduler.advance(operations.sessionTimeout());
        assertThat(operations.nodes()).hasSize(1);
        operations.show(names -> names);
        scheduler.advance(operations.sessionTimeout());
        assertThat(operations.deleted()).hasSize(1);
        assertClean();
    }

    /** The server makes the node of the first create only when it was looked for in vain. */
    private void letTheFirstCreateStandStill() {
        operations.loseAnswerOf(Request.CREATE);
        operations.show(names -> names.stream().filter(name -> !isFirst(name)).toList());
    }

    private static boolean isFirst(String name) {
        return name.endsWith("0000000001");
    }

    @Test
    void nodeOfALostCreate_madeAfterItWasLookedFor_isDeleted_andNotTheOneThatTookItsPlace() {
        letTheFirstCreateStandStill();
        CompletableFuture<Lease> lease = acquire();
        scheduler.advance(Duration.ofSeconds(1));
        assertThat(lease).isCompleted();
        operations.show(names -> names);
        assertThat(operations.nodes()).hasSize(2);
        scheduler.advance(operations.sessionTimeout().multipliedBy(2));
        assertThat(operations.deleted()).singleElement().matches(NodeCleanerTest::isFirst);
        assertThat(operations.nodes()).hasSize(1);
        assertThat(lease.join().state()).isEqualTo(LeaseState.HELD);
        giveBack(lease);
        assertClean();
    }

    /** The server stood still for a moment, or was cut off from the others for long. */
    @ParameterizedTest
    @ValueSource(ints = {1, 180})
    void nodeOfALostCreate_madeAfterItsRequestIsOver_isDeleted(int secondsLater) {
        letTheFirstCreateStandStill();
        acquire().cancel(false);
        scheduler.advance(Duration.ofSeconds(secondsLater));
        assertThat(engine.cleaner().isEmpty()).isTrue();
        assertThat(operations.nodes()).hasSize(1);
        operations.show(names -> names);
        scheduler.advance(operations.sessionTimeout().multipliedBy(2));
        assertClean();
    }

    /** A thread of its server stood still; and that server was cut off from the others, too. */
    @Test
    void nodeOfALostCreate_isLookedForTwiceMore_afterTheSessionTimeOut_andWhenNoServerCanHaveIt() {
        Duration timeout = operations.sessionTimeout();
        operations.refuse(Request.CREATE, Code.CONNECTIONLOSS);
        acquire().cancel(false);
        scheduler.run();
        operations.requests();
        scheduler.advance(timeout.minusMillis(10));
        assertThat(operations.requests()).isEmpty();
        scheduler.advance(timeout.plusMillis(10));
        assertThat(operations.requests()).containsExactly(Request.MULTI, Request.LIST);
        scheduler.advance(timeout.multipliedBy(5));
        assertThat(operations.requests()).isEmpty();
        scheduler.advance(timeout);
        assertThat(operations.requests()).containsExactly(Request.MULTI, Request.LIST);
        scheduler.advance(timeout.multipliedBy(100));
        assertThat(operations.requests()).isEmpty();
    }

    @Test
    void nodeOfALostCreate_thatTurnsUpLate_countsAgainUntilItIsDeleted() {
        letTheFirstCreateStandStill();
        acquire().cancel(false);
        scheduler.advance(Duration.ofSeconds(1));
        SessionNodes counted = LivingSessions.of(engine).iterator().next().nodes();
        String id = operations.nodes().get(0).substring(0, NodeId.LENGTH);
        assertThat(counted.has(id)).isFalse();
        operations.show(names -> names);
        operations.delayAnswerOf(Request.DELETE, operations.sessionTimeout());
        scheduler.advance(operations.sessionTimeout().multipliedBy(2));
        assertThat(counted.has(id)).isTrue();
        scheduler.advance(operations.sessionTimeout());
        assertThat(counted.has(id)).isFalse();
        assertClean();
    }

    @Test
    void nodeOfALostCreate_isNotLookedForWhenItsSessionHasEnded() {
        operations.refuse(Request.CREATE, Code.CONNECTIONLOSS);
        acquire().cancel(false);
        scheduler.run();
        become(State.EXPIRED);
        become(State.CONNECTED);
        scheduler.run();
        operations.requests();
        scheduler.advance(operations.sessionTimeout().multipliedBy(3));
        assertThat(operations.requests()).isEmpty();
    }

    @Test
    @Tag("H78")
    void deletionWithoutAConnection_cannotBeHurried_andBeginsAgainWithIt() {
        List<CompletableFuture<Lease>> leases = List.of(acquireShared(), acquireShared("/locks/bills"));
        List<String> nodes = operations.nodes();
        become(State.DISCONNECTED);
        List<CompletableFuture<Void>> closed =
                leases.stream().map(this::giveBack).toList();
        assertThat(engine.cleaner().hasPostponed()).isFalse();
        operations.requests();
        engine.cleaner().onPath(PATH).values().forEach(Leftover::hurry);
        scheduler.advance(Duration.ofSeconds(10));
        assertThat(operations.requests()).isEmpty();
        assertThat(closed).noneMatch(CompletableFuture::isDone);
        become(State.CONNECTED);
        scheduler.run();
        assertThat(closed).allMatch(CompletableFuture::isDone);
        assertThat(operations.deleted())
                .as("in the order in which they began to wait")
                .isEqualTo(nodes);
        assertClean();
    }

    @Test
    @Tag("H78")
    void deletionThatRests_orWaitsForRoom_canBeHurried() {
        CompletableFuture<Lease> lease = acquire();
        operations.refuse(Request.DELETE, Code.CONNECTIONLOSS);
        giveBack(lease);
        assertThat(engine.cleaner().hasPostponed()).isTrue();
        engine.cleaner().flush(List.of(PATH));
        scheduler.run();
        assertClean();
        List<CompletableFuture<Lease>> leases =
                IntStream.rangeClosed(0, 100).mapToObj(i -> acquireShared()).toList();
        operations.delayAnswersOf(Request.DELETE, Duration.ofSeconds(1));
        operations.requests();
        leases.forEach(this::giveBack);
        assertThat(operations.requests()).hasSize(100).containsOnly(Request.DELETE);
        assertThat(engine.cleaner().hasPostponed()).isTrue();
        engine.cleaner().flush(List.of(PATH));
        assertThat(operations.requests()).containsExactly(Request.DELETE);
        assertThat(engine.cleaner().hasPostponed()).isFalse();
        scheduler.advance(Duration.ofSeconds(1));
        assertClean();
    }

    @Test
    void deletionsThatWaitForRoom_areSentAsOthersAreAnswered() {
        List<CompletableFuture<Lease>> leases =
                IntStream.rangeClosed(0, 100).mapToObj(i -> acquireShared()).toList();
        operations.delayAnswersOf(Request.DELETE, Duration.ofSeconds(1));
        leases.forEach(this::giveBack);
        operations.requests();
        scheduler.advance(Duration.ofSeconds(1));
        assertThat(operations.requests()).containsExactly(Request.DELETE);
        scheduler.advance(Duration.ofSeconds(1));
        assertClean();
    }

    /** Otherwise each would ask as soon as the one before it has ended, deeper and deeper in the stack. */
    @Test
    void refusedDeletions_whenThereIsNoSessionAnyMore_endTogether() {
        List.of(acquireShared(), acquireShared(), acquireShared());
        SessionSource none = mock();
        doAnswer(call -> {
                    call.<SessionSource.User>getArgument(0).unavailable(new LockException("no session any more"));
                    return null;
                })
                .when(none)
                .request(any());
        NodeCleaner cleaner = new NodeCleaner(
                scheduler,
                new Pauses(scheduler, Duration.ofMillis(10), Duration.ofSeconds(1)),
                none,
                engine::requestTimeout);
        operations.refuse(Request.DELETE, Code.NOAUTH);
        operations.refuse(Request.MULTI, Code.NOAUTH, Code.NOAUTH);
        session().keepAlive().all().stream()
                .map(held -> List.of(((HeldNode) held).node()))
                .toList()
                .forEach(node -> {
                    cleaner.discard(node);
                    scheduler.run();
                });
        assertThat(cleaner.refusalOn(PATH)).isPresent();
        session().become(State.EXPIRED);
        scheduler.advance(engine.requestTimeout());
        assertThat(cleaner.isEmpty()).isTrue();
        verify(none, times(1)).request(any());
    }

    @Test
    void nodeWhoseReleaseWasNotFinished_isDeletedWhenTheClientCloses() {
        assertThat(acquire()).isCompleted();
        HeldNode held = (HeldNode) session().keepAlive().all().get(0);
        assertThat(held.endAsReleased())
                .as("by a thread that stands still from now on")
                .isTrue();
        operations.requests();
        client.close();
        scheduler.run();
        assertThat(operations.requests()).containsExactly(Request.DELETE);
        assertThat(held.gone()).isCompleted();
    }

    /** The server does not tell who waits behind it. */
    @Test
    void nodeThatIsKnownToBeGone_isWaitedForNoMore() {
        CompletableFuture<Lease> first = acquire();
        CompletableFuture<Lease> second = acquire();
        assertThat(second).isNotDone();
        operations.removeUntold(
                LockPath.name(((HeldNode) session().keepAlive().all().get(0)).nodePath()));
        giveBack(first);
        assertThat(second).isCompleted();
    }

    @Test
    void closedClient_leavesNobodyWaitingForADeletion() {
        CompletableFuture<Lease> lease = acquire();
        operations.refuse(Request.DELETE, Code.CONNECTIONLOSS);
        CompletableFuture<Void> closed = giveBack(lease);
        assertThat(closed).isNotDone();
        client.close();
        scheduler.run();
        assertThat(closed).isCompleted();
        assertThat(engine.cleaner().isEmpty()).isTrue();
    }

    /** Its thread stands still between the two, and by the time that it continues nobody takes its task any more. */
    @Test
    @Tag("H86")
    void nodeThatWasJustReleased_whenItsSessionAndThenItsClientEnd_isKnownToBeGone() {
        var unused = acquire();
        HeldNode held =
                (HeldNode) LivingSessions.of(engine).get(0).keepAlive().all().get(0);
        assertThat(held.endAsReleased()).isTrue();
        become(State.EXPIRED);
        client.close();
        scheduler.advance(Duration.ofHours(1));
        assertThat(held.gone()).isCompleted();
    }
}
