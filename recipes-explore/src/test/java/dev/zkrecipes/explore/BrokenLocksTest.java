// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The explorer finds what is wrong with a lock, by the rule that it breaks, and nothing with a sound one. */
class BrokenLocksTest {
    private static final int SCHEDULES = 20_000;
    private static final ExploredLock MUTEX = Queue.exploredMutex(Queue.MUTEX);
    private static final ExploredLock PAIR = Queue.exploredPair(Queue.PAIR);

    /** The first promise that is seen broken; under all faults, if none are named. */
    private static Violation assertBroken(ExploredLock lock, String rule, FaultKind... faults) {
        return assertBroken(lock, rule, found -> true, faults);
    }

    private static Violation assertBroken(
            ExploredLock lock, String rule, Predicate<Violation> looksAt, FaultKind... faults) {
        Explorer explorer =
                faults.length == 0 ? Explorer.of(lock) : Explorer.of(lock).withFaults(Set.of(faults));
        Optional<Violation> found = LongStream.rangeClosed(1, SCHEDULES)
                .mapToObj(explorer::play)
                .flatMap(Optional::stream)
                .filter(looksAt)
                .findFirst();
        assertThat(found).map(Violation::rule).contains(rule);
        return found.orElseThrow();
    }

    @Test
    void violation_isReplayedAndMadeSimpler() {
        ExploredLock lock = Queue.exploredMutex(
                new Queue("lock-", front -> front.size() < 2 ? Decision.granted() : Decision.waitFor(front.get(1))));
        Explorer explorer = Explorer.of(lock);
        Violation found = explorer.explore(1, SCHEDULES).orElseThrow();
        Violation again = explorer.replay(found);
        assertThat(again.message()).isEqualTo(found.message());
        assertThat(again.choices()).isEqualTo(found.choices());
        Violation simple = explorer.shrink(found);
        assertThat(simple.rule()).isEqualTo(found.rule());
        assertThat(simple.choices()).hasSizeLessThan(found.choices().size());
        assertThat(simple.trace()).isNotEmpty();
    }

    @Test
    void soundLocks_areNotAccused() {
        assertThat(Explorer.of(MUTEX).explore(1, 500)).isEmpty();
        assertThat(Explorer.of(PAIR).explore(1, 500)).isEmpty();
    }

    /** As by the time limit of a test: the lock is not to blame. */
    @Test
    void interruptOfTheExplorer_isNotBlamedOnTheLock_andKept() {
        Explorer explorer = Explorer.of(MUTEX);
        for (long seed = 1; seed <= 40; seed++) {
            Thread.currentThread().interrupt();
            assertThat(explorer.play(seed)).isEmpty();
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void lockGrantedBesideItsHolder_isFound() {
        assertBroken(
                Queue.exploredMutex(new Queue(
                        "lock-", front -> front.size() < 2 ? Decision.granted() : Decision.waitFor(front.get(1)))),
                "nobody is granted out of turn");
    }

    @Test
    void permitWaitingForOneHolderOnly_isFound() {
        assertBroken(
                Queue.exploredPair(new Queue(
                        "pair-",
                        front -> front.size() < Queue.LIMIT
                                ? Decision.granted()
                                : Decision.waitFor(front.get(front.size() - 1)))),
                "whoever may hold is woken");
    }

    /** It names no node that has to leave first. */
    @Test
    void requestWaitingForNothing_isFound() {
        Violation found = assertBroken(
                Queue.exploredPair(new Queue(
                        "pair-",
                        front -> front.size() < Queue.LIMIT ? Decision.granted() : Decision.waitFor(List.of()))),
                "the driver answers");
        assertThat(found.message()).contains("a request that waits for nothing would wait forever");
    }

    /** It waits though it may hold. */
    @Test
    void requestWaitingWithoutNeed_isFound() {
        assertBroken(Queue.exploredPair(new Queue("pair-", Decision::grantedIfFirst)), "whoever may hold is woken");
    }

    @Test
    void leaseForgettingItsSession_isFound() {
        assertBroken(leaseWhose("isValid", lease -> true), "a stale lease is not valid", FaultKind.OUTAGE);
    }

    @Test
    void leaseForgettingItsNode_isFound() {
        assertBroken(leaseWhose("isValid", lease -> true), "a stale lease is not valid", FaultKind.DELETION);
    }

    @Test
    void lossThatIsNotTold_isFound() {
        assertBroken(leaseWhose("ended", lease -> new CompletableFuture<>()), "a loss is told once", FaultKind.EXPIRY);
        assertBroken(leaseWhose("onLost", lease -> true), "a loss is told once", FaultKind.EXPIRY);
    }

    @Test
    void verificationThatAsksNobody_isFound() {
        assertBroken(leaseWhose("verify", lease -> true), "a verified lease is held", FaultKind.DELETION);
    }

    @Test
    void freeLockThatIsCalledBusy_isFound() {
        assertBroken(
                lockWhose("tryAcquire", lock -> Optional.empty()), "a request is not turned away", FaultKind.CHANGE);
    }

    @Test
    void callThatEndsTooLate_isFound() {
        assertBroken(lockWhose("tryAcquire", lock -> Optional.of(acquired(lock))), "a call ends in time");
    }

    private static Lease acquired(InterProcessLock lock) {
        try {
            return lock.acquire();
        } catch (InterruptedException e) {
            throw sneaky(e);
        }
    }

    /** A thread waits for itself. */
    @Test
    void nestedAcquireThatIsNeverGranted_isFound() {
        ExploredLock notReentrant = ExploredLock.of(
                        "mutex",
                        (front, self) -> front.isEmpty(),
                        (client, path) ->
                                List.of(new LockInternals(client, path, Queue.MUTEX, LockOptions.defaults()).unowned()))
                .withNesting(0, 0);
        assertThat(LongStream.rangeClosed(1, 100)
                        .mapToObj(Explorer.of(notReentrant)::play)
                        .flatMap(Optional::stream)
                        .map(Violation::rule))
                .isNotEmpty()
                .containsOnly("every waiter is granted or told why not");
    }

    @Test
    void acquireThatGivesUp_isFound() {
        assertBroken(failingToAcquire(new LockConnectionException("played")), "a waiter is not turned away");
        assertBroken(failingToAcquire(new LockLostException("played")), "a waiter is not turned away");
        assertBroken(failingToAcquire(new InterruptedException("played")), "only an interrupt interrupts");
    }

    private static ExploredLock failingToAcquire(Exception failure) {
        return lockWhose("acquire", lock -> {
                    throw sneaky(failure);
                })
                .withNesting(0, 0);
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Exception> E sneaky(Exception checked) throws E {
        throw (E) checked;
    }

    @Test
    void constantToken_isFound() {
        assertBroken(leaseWhose("fencingToken", lease -> 7L), "tokens rise");
    }

    /** An empty path is recreated, and then its numbers begin at 0. */
    @Test
    void tokenThatBeginsAgainWithThePath_isFound() {
        ExploredLock lock = leaseWhose(
                "fencingToken",
                lease -> 1 + QueuedNode.of(lease.guard().getPath()).number());
        Explorer explorer = Explorer.of(lock).withClients(1).withFaults(Set.of(FaultKind.REAPING));
        assertThat(LongStream.rangeClosed(1, SCHEDULES)
                        .mapToObj(explorer::play)
                        .flatMap(Optional::stream)
                        .filter(found -> found.message().matches(".*-lock-0{10} with token 1 after .*number=0.*"))
                        .findFirst())
                .map(Violation::rule)
                .contains("tokens rise");
    }

    @Test
    void cancellationLeavingTheRequestBehind_isFound() {
        // A future that depends on another one does not pass on its own cancellation.
        assertBroken(
                lockWhose("acquireAsync", lock -> lock.acquireAsync().thenApply(Function.identity())),
                "every waiter is granted or told why not");
    }

    @Test
    void releaseDoingNothing_isFound() {
        assertBroken(
                leaseWhose("closeAsync", lease -> CompletableFuture.completedFuture(null)),
                "every waiter is granted or told why not");
    }

    @Test
    void engineLosingOneEventInAHundred_isFound() {
        int[] events = {0};
        assertBroken(
                MUTEX.through(sound -> new BrokenOperations(sound) {
                    @Override
                    public void watchChildren(
                            String path, Consumer<NodeEvent> watch, Consumer<Answer<List<String>>> reply) {
                        boolean loses = sessionId() % 7 == 0 && path.hashCode() % 14 == 0;
                        sound.watchChildren(path, loses ? event -> events[0]++ : watch, reply);
                    }
                }),
                "every waiter is granted or told why not",
                // A client that does not learn of the deletion also keeps its entries for the node.
                found -> !found.rule().equals("nothing is left behind"));
        assertThat(events[0]).isPositive();
    }

    @Test
    void dataWatchTakenForADeletionWatch_isFound() {
        assertBroken(MUTEX.through(WatchingTheData::new), "every waiter is granted or told why not", FaultKind.CHANGE);
    }

    /** What it waits for is there for ever, unless a watch tells. */
    private static final class NeverLookingAgain extends BrokenOperations {
        NeverLookingAgain(ZooKeeperOperations sound) {
            super(sound);
        }

        @Override
        public void multi(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
            boolean isLook = operations.stream().anyMatch(read -> QueuedNode.isOne(read.getPath()))
                    && operations.stream().allMatch(read -> read.getKind() == Op.OpKind.READ);
            OpResult there = new OpResult.GetChildrenResult(List.of());
            sound.multi(
                    operations,
                    answer -> reply.accept(
                            isLook && answer.code() == Code.NONODE
                                    ? Answer.ok(Collections.nCopies(operations.size(), there))
                                    : answer));
        }
    }

    @Test
    @Tag("H120")
    void watchesThatAreTrustedForEver_areFound() {
        assertBroken(
                MUTEX.through(NeverLookingAgain::new),
                "every waiter is granted or told why not",
                FaultKind.UNTOLD_DELETION);
        // Who asked a holder to give the lock back waits for its node, too.
        assertBroken(
                MUTEX.withRevocations().through(NeverLookingAgain::new),
                "nothing is left behind",
                found -> found.message().contains("follows a request to give a lock back"),
                FaultKind.UNTOLD_DELETION);
    }

    /** What the engine watches for its deletion, anybody's write takes it away from. */
    private static final class WatchingTheData extends BrokenOperations {
        private final Map<Consumer<NodeEvent>, Consumer<NodeEvent>> deletions = new HashMap<>();

        WatchingTheData(ZooKeeperOperations sound) {
            super(sound);
        }

        @Override
        public void watchChildren(String path, Consumer<NodeEvent> watch, Consumer<Answer<List<String>>> reply) {
            Consumer<NodeEvent> deletion = deletions.computeIfAbsent(watch, told -> event -> {
                if (event == NodeEvent.DELETED) {
                    told.accept(event);
                }
            });
            sound.readAndWatch(
                    path,
                    deletion,
                    answer -> reply.accept(answer.isOk() ? Answer.ok(List.of()) : Answer.failed(answer.code())));
        }

        @Override
        public void dropWatch(String path, Consumer<NodeEvent> watch) {
            sound.dropWatch(path, deletions.getOrDefault(watch, watch));
        }
    }

    /** Its own node is in each of its lists, and nobody says that it has gone. */
    @Test
    void engineBlindToTheLossOfItsNode_isFound() {
        assertBroken(
                MUTEX.through(BlindToItsOwnNodes::new),
                "nobody is granted out of turn",
                violation -> violation.message().contains("gone before"),
                FaultKind.LOST_PLACE);
    }

    @Test
    void releaseDeletingTheNextHoldersNodeToo_isFound() {
        assertBroken(
                MUTEX.through(sound -> new BrokenOperations(sound) {
                    @Override
                    public void delete(String path, Consumer<Answer<String>> reply) {
                        String lock = path.substring(0, path.lastIndexOf('/'));
                        sound.delete(path, reply);
                        sound.children(lock, list -> {
                            if (list.isOk() && list.value().names().size() == 1) {
                                sound.delete(lock + "/" + list.value().names().get(0), ignored -> {});
                            }
                        });
                    }
                }),
                "a stale lease is not valid");
    }

    /** The engine would find the node later. */
    @Test
    void emptyListTakenForNeverApplied_isFound() {
        assertBroken(
                MUTEX.through(sound -> new LookingOnce(new CheckingByReads(sound))),
                "every waiter is granted or told why not",
                found -> found.rule().contains("every waiter"), // the test below is about another one
                FaultKind.DISCONNECT,
                FaultKind.CUT_FOLLOWER,
                FaultKind.DEPOSED_LEADER);
    }

    @Test
    void emptyListBehindAWriteTakenForNeverApplied_isFound() {
        assertBroken(
                MUTEX.through(LookingOnce::new),
                "every waiter is granted or told why not",
                found -> found.rule().contains("every waiter"),
                FaultKind.LATE_WRITE);
    }

    @Test
    void proofOfTheSessionByAReadInsteadOfAWrite_isFound() {
        assertBroken(
                MUTEX.through(CheckingByReads::new),
                "a stale lease is not valid",
                found -> found.rule().contains("stale"),
                FaultKind.CUT_FOLLOWER);
    }

    /** Where the engine wants a small write to be committed, it gets the answer of a server that may know nothing. */
    private static final class CheckingByReads extends BrokenOperations {
        CheckingByReads(ZooKeeperOperations sound) {
            super(sound);
        }

        @Override
        public void multi(List<Op> operations, Consumer<Answer<List<OpResult>>> reply) {
            if (operations.size() == 1 && operations.get(0).getType() == OpCode.check) {
                String path = operations.get(0).getPath();
                sound.read(
                        path,
                        answer -> reply.accept(
                                answer.isOk()
                                        ? Answer.ok(List.of(new OpResult.CheckResult()))
                                        : new Answer<>(
                                                answer.code(),
                                                List.of(new OpResult.ErrorResult(
                                                        answer.code().intValue())))));
            } else {
                sound.multi(operations, reply);
            }
        }
    }

    // ---- Mutexes and leases that are sound but for one method.

    private static ExploredLock lockWhose(String name, Function<InterProcessLock, Object> answers) {
        return ExploredLock.of(
                MUTEX.name(),
                MUTEX.rule(),
                (client, path) -> MUTEX.maker().make(client, path).stream()
                        .map(lock -> proxy(
                                InterProcessLock.class,
                                lock,
                                (it, method) -> method.equals(name) ? Optional.of(answers.apply(it)) : Optional.empty(),
                                UnaryOperator.identity()))
                        .toList());
    }

    private static ExploredLock leaseWhose(String name, Function<Lease, Object> answers) {
        return leases(
                MUTEX, (lease, method) -> method.equals(name) ? Optional.of(answers.apply(lease)) : Optional.empty());
    }

    /** A lock whose leases answer what is given, and what is sound where that is empty. */
    static ExploredLock leases(ExploredLock sound, BiFunction<Lease, String, Optional<Object>> broken) {
        UnaryOperator<Object> breaking = result -> breakLease(result, broken);
        return ExploredLock.of(
                sound.name(),
                sound.rule(),
                (client, path) -> sound.maker().make(client, path).stream()
                        .map(lock -> proxy(InterProcessLock.class, lock, (it, method) -> Optional.empty(), breaking))
                        .toList());
    }

    private static Object breakLease(Object result, BiFunction<Lease, String, Optional<Object>> broken) {
        if (result instanceof Optional<?> found && found.isPresent()) {
            return Optional.of(breakLease(found.get(), broken));
        } else if (result instanceof CompletableFuture<?> future) {
            CompletableFuture<Object> copy = new CompletableFuture<>();
            CompletableFuture<Boolean> passedOn = future.handle((lease, failure) ->
                    failure == null ? copy.complete(breakLease(lease, broken)) : copy.completeExceptionally(failure));
            CompletableFuture<Boolean> left = copy.handle((lease, failure) -> future.cancel(false));
            return passedOn == left ? future : copy;
        }
        return result instanceof Lease lease ? proxy(Lease.class, lease, broken, UnaryOperator.identity()) : result;
    }

    private static <T> T proxy(
            Class<T> type, T sound, BiFunction<T, String, Optional<Object>> broken, UnaryOperator<Object> results) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    Optional<Object> instead = broken.apply(sound, method.getName());
                    if (instead.isPresent()) {
                        return instead.get();
                    }
                    try {
                        return results.apply(method.invoke(sound, arguments));
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }
}
