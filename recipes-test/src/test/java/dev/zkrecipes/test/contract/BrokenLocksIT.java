// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static dev.zkrecipes.test.contract.BrokenLock.assertFound;
import static dev.zkrecipes.test.contract.BrokenLock.assertSound;
import static dev.zkrecipes.test.contract.BrokenLock.call;
import static dev.zkrecipes.test.contract.BrokenLock.decidingBy;
import static dev.zkrecipes.test.contract.BrokenLock.proxy;

import com.google.common.collect.Iterables;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockNode;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.platform.testkit.engine.Events;

/** The suites find what is wrong with a lock, and nothing with a sound one. */
@Tag("soak")
@Timeout(600)
class BrokenLocksIT {
    private static final Recipe.Maker SOUND = decidingBy((predecessors, self) ->
            predecessors.isEmpty() ? Decision.granted() : Decision.waitFor(predecessors.get(predecessors.size() - 1)));

    /** What the suite below plays with; the tests run one after the other. */
    private static Recipe.Maker played = SOUND;

    private static Recipe playing() {
        return Recipe.rivals(played, SOUND, Ownership.REENTRANT_THREAD);
    }

    static class Suite extends AcquireContract {
        @Override
        protected Recipe recipe() {
            return playing();
        }
    }

    static class TurnsSuite extends TurnsContract {
        @Override
        protected Recipe recipe() {
            return Recipe.exclusive(played, Ownership.REENTRANT_THREAD);
        }
    }

    static class InterruptSuite extends InterruptContract {
        @Override
        protected Recipe recipe() {
            return playing();
        }
    }

    static class ItsOwnRival extends AcquireContract {
        @Override
        protected Recipe recipe() {
            return Recipe.exclusive(played, Ownership.REENTRANT_THREAD);
        }
    }

    static class LossSuite extends LossContract {
        @Override
        protected Recipe recipe() {
            return playing();
        }
    }

    static class LeaseSuite extends LeaseContract {
        @Override
        protected Recipe recipe() {
            return playing();
        }
    }

    static class HoldsSuite extends ReentrantContract {
        @Override
        protected Recipe recipe() {
            return playing();
        }
    }

    @Test
    void soundLock_passes() {
        assertSound(play(SOUND, "rival_cannotBeHeldBesideTheLock"), 1);
        assertSound(play(SOUND, "freeLock_isGranted", Flavour.class), 8);
        assertSound(play(SOUND, "tryOnAHeldLock_isNotGranted_andWritesNothing", Flavour.class), 2);
        assertSound(play(SOUND, "timedOutAcquires_leaveNoNodeAndAtMostOneWatch"), 1);
        assertSound(play(TurnsSuite.class, SOUND, "waiters_areGrantedOneByOne_inTheOrderOfTheirRequests"), 1);
        assertSound(play(TurnsSuite.class, SOUND, "waitersThatLeave_letNobodyInBeforeItsTurn", int.class), 3);
        assertSound(play(TurnsSuite.class, SOUND, "threadsOfBothClients_neverMeetInside_andLoseNoCount"), 1);
        assertSound(play(InterruptSuite.class, SOUND, "interruptWhileWaiting_endsTheRequest", Flavour.class), 4);
        assertSound(play(LossSuite.class, SOUND, "lostLock_isReportedByEveryCall"), 1);
        assertSound(play(LossSuite.class, SOUND, "closingTheClient_losesItsLeases"), 1);
        assertSound(play(LeaseSuite.class, SOUND, "deletedNode_losesTheLock"), 1);
        assertSound(play(LeaseSuite.class, SOUND, "token_isGreaterThanThoseOfTheHoldersBefore"), 1);
        assertSound(play(LeaseSuite.class, SOUND, "guards_letWritesThrough_onlyWhileTheLockIsHeld"), 1);
        assertSound(play(LeaseSuite.class, SOUND, "verification_isACommittedCheck"), 1);
        assertSound(play(LeaseSuite.class, SOUND, "asynchronousRelease_isOverWhenTheServerConfirmsIt"), 1);
        assertSound(play(LeaseSuite.class, SOUND, "prolongedLease_endsWithItsNewTime"), 1);
        assertSound(play(LeaseSuite.class, SOUND, "participants_areAllThatHoldOrWait"), 1);
        assertSound(play(HoldsSuite.class, SOUND, "lock_isReleasedWithItsLastHold"), 1);
    }

    /** A read lock, say, that is taken for its own rival. */
    @Test
    void compatibleRival_isNamed() {
        played = decidingBy((predecessors, self) -> Decision.granted());
        assertFound(
                BrokenLock.play(ItsOwnRival.class, "rival_cannotBeHeldBesideTheLock"),
                1,
                "name a rival that conflicts");
    }

    @Test
    void lockGrantedBesideItsRival_isFound() {
        Recipe.Maker generous = decidingBy((predecessors, self) -> Decision.granted());
        assertFound(
                play(generous, "tryOnAHeldLock_isNotGranted_andWritesNothing", Flavour.class),
                2,
                "expected: NOT_GRANTED");
    }

    @Test
    void lockLettingAFifthRequestIn_isFound() {
        Recipe.Maker impatient = decidingBy((predecessors, self) ->
                predecessors.size() >= 4 ? Decision.granted() : Decision.grantedIfFirst(predecessors));
        assertFound(
                play(TurnsSuite.class, impatient, "waiters_areGrantedOneByOne_inTheOrderOfTheirRequests"),
                1,
                "[a try behind [rival 3 is granted, ");
    }

    @Test
    void lockLettingTheSuccessorOfALeaverIn_isFound() {
        Recipe.Maker credulous =
                (client, path, options) -> decidingBy(takingAnyEndForItsTurn()).make(client, path, options);
        assertFound(
                play(TurnsSuite.class, credulous, "waitersThatLeave_letNobodyInBeforeItsTurn", int.class),
                3,
                "[what happened, in this order]");
    }

    /** Waits for the nearest node; when that is gone, for whatever reason, it holds. */
    private static BrokenLock.Rule takingAnyEndForItsTurn() {
        Map<LockNode, LockNode> awaited = new ConcurrentHashMap<>();
        return (predecessors, self) -> {
            LockNode nearest = Iterables.getLast(predecessors, self);
            return predecessors.contains(awaited.computeIfAbsent(self, key -> nearest))
                    ? Decision.waitFor(nearest)
                    : Decision.granted();
        };
    }

    @Test
    void lockThatAnybodyHolds_isFoundByItsCount() {
        Recipe.Maker generous = decidingBy((predecessors, self) -> Decision.granted());
        assertFound(
                play(TurnsSuite.class, generous, "threadsOfBothClients_neverMeetInside_andLoseNoCount"),
                1,
                "[how often two met inside]");
    }

    @Test
    void queueingTry_isFound() {
        assertFound(
                play(
                        replacing("tryAcquire", 0, sound -> ask(sound, 1000)),
                        "tryOnAHeldLock_isNotGranted_andWritesNothing",
                        Flavour.class),
                1, // the view as a Lock is sound
                "CREATE2=1");
    }

    @Test
    @Tag("H36")
    void timedOutRequestLeftInTheQueue_isFound() {
        assertFound(
                play(
                        replacing("tryAcquire", 1, sound -> ask(sound, 1)),
                        "timedOutAcquires_leaveNoNodeAndAtMostOneWatch"),
                1,
                "Expected size: 1 but was: 301");
    }

    @Test
    void lockDenyingItsHolds_isFound() {
        assertFound(
                play(replacing("isAcquiredInThisProcess", 0, sound -> false), "freeLock_isGranted", Flavour.class),
                8,
                "isAcquiredInThisProcess() of");
    }

    @Test
    void interruptedRequestLeftInTheQueue_isFound() {
        assertFound(
                play(
                        InterruptSuite.class,
                        replacing("acquire", 0, sound -> sound.acquireAsync().get()),
                        "interruptWhileWaiting_endsTheRequest",
                        Flavour.class),
                1, // the other ways to ask are sound
                "Expected size: 1 but was: 2");
    }

    @Test
    @Tag("H02")
    void leaseOutlivingItsSession_isFound() {
        Recipe.Maker deaf = leasing((lease, method) -> method.equals("state") ? LeaseState.HELD : null);
        assertFound(play(LossSuite.class, deaf, "closingTheClient_losesItsLeases"), 1, "expected: LOST");
        assertFound(play(LeaseSuite.class, deaf, "deletedNode_losesTheLock"), 1, "expected: LOST");
    }

    @Test
    @Tag("H220")
    void leaseThatDoesNotProtectAStore_isFound() {
        assertFound(
                play(
                        LeaseSuite.class,
                        leasing((lease, method) -> method.equals("fencingToken") ? 42L : null),
                        "token_isGreaterThanThoseOfTheHoldersBefore"),
                1,
                "to be greater than");
        assertFound(
                play(
                        LeaseSuite.class,
                        leasing((lease, method) -> method.equals("guard") ? Op.check("/", -1) : null),
                        "guards_letWritesThrough_onlyWhileTheLockIsHeld"),
                1,
                "Expecting code to raise a throwable");
    }

    @Test
    @Tag("H220")
    void leaseThatAnswersWithoutTheServer_isFound() {
        assertFound(
                play(
                        LeaseSuite.class,
                        leasing((lease, method) -> method.equals("verify") ? true : null),
                        "verification_isACommittedCheck"),
                1,
                "0 requests");
        Recipe.Maker hasty = replacing(
                "acquireAsync",
                0,
                sound -> sound.acquireAsync()
                        .thenApply(granted -> lease(granted, (lease, method) -> {
                            if (!method.equals("closeAsync")) {
                                return null;
                            }
                            lease.closeAsync();
                            return CompletableFuture.completedFuture(null);
                        })));
        assertFound(
                play(LeaseSuite.class, hasty, "asynchronousRelease_isOverWhenTheServerConfirmsIt"),
                1,
                "that no server has heard of");
    }

    @Test
    @Tag("H220")
    void leaseThatIsNotProlonged_isFound() {
        assertFound(
                play(
                        LeaseSuite.class,
                        leasing((lease, method) -> method.equals("prolong") ? true : null),
                        "prolongedLease_endsWithItsNewTime"),
                1,
                "was not fulfilled");
    }

    @Test
    @Tag("H220")
    void lockHidingItsParticipants_isFound() {
        assertFound(
                play(
                        LeaseSuite.class,
                        replacing("participants", 0, sound -> List.of()),
                        "participants_areAllThatHoldOrWait"),
                1,
                "but could not find");
    }

    @Test
    @Tag("H12")
    void lateReleaseOfTheNextHolder_isFound() {
        Recipe.Maker freeing = (client, path, options) -> leasing(SOUND, (lease, method) -> {
                    if (method.equals("close") && lease.state() == LeaseState.LOST) {
                        deleteNodes(client, path);
                    }
                    return null;
                })
                .make(client, path, options);
        assertFound(play(LossSuite.class, freeing, "lostLock_isReportedByEveryCall"), 1, "deleted by somebody else");
    }

    @Test
    void lockReleasedWithItsFirstHold_isFound() {
        Recipe.Maker hasty = (client, path, options) -> leasing(SOUND, (lease, method) -> {
                    if (method.equals("close")) {
                        deleteNodes(client, path);
                    }
                    return null;
                })
                .make(client, path, options);
        assertFound(play(HoldsSuite.class, hasty, "lock_isReleasedWithItsLastHold"), 1, "Expecting an empty Optional");
    }

    /** Whosever they are. */
    private static void deleteNodes(ZooKeeperClient client, String path) throws Exception {
        ZooKeeper handle = client.zooKeeper().orElseThrow();
        for (String name : handle.getChildren(path, false)) {
            handle.delete(path + "/" + name, -1);
        }
    }

    private static Events play(Recipe.Maker lock, String test, Class<?>... parameters) {
        return play(Suite.class, lock, test, parameters);
    }

    private static Events play(Class<?> suite, Recipe.Maker lock, String test, Class<?>... parameters) {
        played = lock;
        return BrokenLock.play(suite, test, parameters);
    }

    /** Asks, and after a while leaves the request to itself. */
    private static Optional<Lease> ask(InterProcessLock lock, long millis) {
        return Optional.ofNullable(lock.acquireAsync()
                .thenApply(Function.identity())
                .completeOnTimeout(null, millis, TimeUnit.MILLISECONDS)
                .join());
    }

    @FunctionalInterface
    private interface Answer {
        Object of(InterProcessLock sound) throws Exception;
    }

    /** What a lease answers instead, or does before it answers: null leaves the answer to the sound lease. */
    @FunctionalInterface
    private interface LeaseAnswer {
        Object of(Lease sound, String method) throws Exception;
    }

    /** A sound lock but for one method. */
    private static Recipe.Maker replacing(String name, int parameters, Answer answer) {
        return (client, path, options) -> {
            InterProcessLock sound = SOUND.make(client, path, options);
            return proxy(
                    InterProcessLock.class,
                    (proxy, method, arguments) ->
                            method.getName().equals(name) && method.getParameterCount() == parameters
                                    ? answer.of(sound)
                                    : call(sound, method, arguments));
        };
    }

    private static Recipe.Maker leasing(LeaseAnswer answer) {
        return leasing(SOUND, answer);
    }

    /** A sound lock but for its leases. */
    private static Recipe.Maker leasing(Recipe.Maker locks, LeaseAnswer answer) {
        return (client, path, options) -> {
            InterProcessLock sound = locks.make(client, path, options);
            return proxy(InterProcessLock.class, (proxy, method, arguments) -> {
                Object result = call(sound, method, arguments);
                return result instanceof Lease lease ? lease(lease, answer) : result;
            });
        };
    }

    private static Lease lease(Lease sound, LeaseAnswer answer) {
        return proxy(Lease.class, (proxy, method, arguments) -> {
            Object instead = answer.of(sound, method.getName());
            return instead == null ? call(sound, method, arguments) : instead;
        });
    }
}
