// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static dev.zkrecipes.test.contract.BrokenLock.assertFound;
import static dev.zkrecipes.test.contract.BrokenLock.assertSound;
import static dev.zkrecipes.test.contract.BrokenLock.call;
import static dev.zkrecipes.test.contract.BrokenLock.play;
import static dev.zkrecipes.test.contract.BrokenLock.proxy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockGroups;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.test.contract.BrokenLock.Rule;
import dev.zkrecipes.test.contract.BrokenLock.Ruled;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The suites for read-write locks and semaphores find what is wrong with one, and nothing with a sound one. */
@Tag("soak")
@Timeout(600)
class BrokenSharedLocksIT {
    private static final String DOWNGRADE = "downgrade_keepsPlaceAndToken_aheadOfQueuedWriters";

    /** What the suites below play with; the tests run one after the other. */
    private static ReadWritePair.Maker pair = soundPair(BrokenSharedLocksIT::reader);

    private static SemaphoreMaker semaphore = semaphore(BrokenSharedLocksIT::inTurn);

    static class SharingSuite extends SharingContract {
        @Override
        protected ReadWritePair.Maker locks() {
            return pair;
        }
    }

    static class DowngradeSuite extends DowngradeContract {
        @Override
        protected ReadWritePair.Maker locks() {
            return pair;
        }
    }

    static class PermitsSuite extends PermitsContract {
        @Override
        protected SemaphoreMaker semaphores() {
            return semaphore;
        }
    }

    // ---- Read-write locks.

    private static boolean isWriter(LockNode node) {
        return node.kind().equals("write-");
    }

    private static Decision reader(List<LockNode> predecessors, LockNode self) {
        return predecessors.stream()
                .filter(BrokenSharedLocksIT::isWriter)
                .reduce((far, near) -> near)
                .map(Decision::waitFor)
                .orElse(Decision.granted());
    }

    /** Waits only if a writer is first, that is, holds. */
    private static Decision overtakingReader(List<LockNode> predecessors, LockNode self) {
        return !predecessors.isEmpty() && isWriter(predecessors.get(0))
                ? Decision.waitFor(predecessors.get(0))
                : Decision.granted();
    }

    private static ReadWritePair.Maker soundPair(Rule readers) {
        Rule all = (predecessors, self) ->
                isWriter(self) ? Decision.grantedIfFirst(predecessors) : readers.decide(predecessors, self);
        return (client, path, options) -> {
            LockGroups.Modes modes =
                    LockGroups.modes(client, path, new Ruled("write-", all), new Ruled("read-", all), options);
            return new ReadWritePair(modes.shared(), modes.exclusive());
        };
    }

    /** Gives back the write lock, and asks for the read lock then. */
    private static ReadWritePair.Maker downgradingByGivingBack() {
        return (client, path, options) -> {
            ReadWritePair sound = soundPair(BrokenSharedLocksIT::reader).make(client, path, options);
            return new ReadWritePair(
                    before(sound.read(), "tryAcquire", () -> {
                        if (sound.write().isHeldByCurrentThread()) {
                            sound.write().release();
                        }
                    }),
                    sound.write());
        };
    }

    private static InterProcessLock before(InterProcessLock sound, String name, Runnable action) {
        return proxy(InterProcessLock.class, (proxy, method, arguments) -> {
            if (method.getName().equals(name)) {
                action.run();
            }
            return call(sound, method, arguments);
        });
    }

    /** A reader that is granted while others wait queues again behind them, once. */
    private static ReadWritePair.Maker readersGivingWay() {
        return (client, path, options) -> {
            ReadWritePair sound = soundPair(BrokenSharedLocksIT::reader).make(client, path, options);
            return new ReadWritePair(
                    proxy(
                            InterProcessLock.class,
                            (proxy, method, arguments) -> method.getName().equals("acquireAsync")
                                    ? givingWay(sound.read())
                                    : method.invoke(sound.read(), arguments)),
                    sound.write());
        };
    }

    private static CompletableFuture<Lease> givingWay(InterProcessLock read) {
        return read.acquireAsync().thenComposeAsync(lease -> {
            try {
                if (read.participants().size() == 1) {
                    return CompletableFuture.completedFuture(lease);
                }
            } catch (InterruptedException e) {
                throw new CompletionException(e);
            }
            lease.close();
            return read.acquireAsync();
        });
    }

    @Test
    void soundReadWriteLock_passes() {
        pair = soundPair(BrokenSharedLocksIT::reader);
        assertSound(play(SharingSuite.class, "readerBehindAWaitingWriter_doesNotPassIt"), 1);
        assertSound(play(SharingSuite.class, "writerBehindAWaitingReader_doesNotPassIt"), 1);
        assertSound(play(DowngradeSuite.class, DOWNGRADE), 1);
        assertSound(play(DowngradeSuite.class, "upgrade_isRefusedAtOnce_andSendsNothing"), 1);
    }

    @Test
    void readersOvertakingAQueuedWriter_areFound() {
        pair = soundPair(BrokenSharedLocksIT::overtakingReader);
        assertFound(
                play(SharingSuite.class, "readerBehindAWaitingWriter_doesNotPassIt"), 1, "Expecting an empty Optional");
    }

    @Test
    void writersOvertakingAQueuedReader_areFound() {
        pair = readersGivingWay();
        assertFound(play(SharingSuite.class, "writerBehindAWaitingReader_doesNotPassIt"), 1, "to be completed within");
    }

    @Test
    @Tag("H04")
    void downgradeLettingAWriterIn_isFound() {
        pair = downgradingByGivingBack();
        assertFound(play(DowngradeSuite.class, DOWNGRADE), 1, "not granted, or not in time: the downgrade");
    }

    // ---- Semaphores.

    private static final int LIMIT = 4;

    private static int permits(LockNode node) {
        return Integer.parseInt(node.payload());
    }

    private static Decision inTurn(List<LockNode> predecessors, LockNode self) {
        int inFront =
                predecessors.stream().mapToInt(BrokenSharedLocksIT::permits).sum();
        return inFront + permits(self) <= LIMIT ? Decision.granted() : Decision.waitFor(predecessors);
    }

    /** Counts holders only: any request that fits beside them gets in. */
    private static Decision whoFits(List<LockNode> predecessors, LockNode self) {
        int held = 0;
        for (LockNode node : predecessors) {
            held += held + permits(node) <= LIMIT ? permits(node) : 0;
        }
        return held + permits(self) <= LIMIT ? Decision.granted() : Decision.waitFor(predecessors);
    }

    private static Decision oneTooMany(List<LockNode> predecessors, LockNode self) {
        return inTurn(predecessors.subList(0, Math.max(0, predecessors.size() - 1)), self);
    }

    private static SemaphoreMaker semaphore(Rule rule) {
        return (client, path, limit, options) -> permits ->
                new LockInternals(client, path, new Ruled("permits." + permits + "-", rule), options).unowned();
    }

    /** Takes permits one by one; two requests that take the first at the same time show the consequence. */
    private static SemaphoreMaker oneByOne() {
        CyclicBarrier both = new CyclicBarrier(2);
        AtomicBoolean alone = new AtomicBoolean();
        return (client, path, limit, options) -> {
            InterProcessLock one = semaphore(BrokenSharedLocksIT::inTurn)
                    .make(client, path, limit, options)
                    .apply(1);
            return permits -> proxy(InterProcessLock.class, (proxy, method, arguments) -> {
                if (method.getName().equals("acquire")) {
                    return one.acquire(); // by the suite, to make the path
                }
                Duration limitOfTime = (Duration) arguments[0];
                List<Lease> taken = new ArrayList<>();
                for (int i = 0; i < permits; i++) {
                    Optional<Lease> next = one.tryAcquire(limitOfTime);
                    if (next.isEmpty()) {
                        taken.forEach(Lease::close);
                        return next;
                    }
                    taken.add(next.get());
                    if (i == 1 && !alone.get()) {
                        alone.set(!meet(both));
                    }
                }
                taken.subList(1, permits).forEach(Lease::close);
                return Optional.of(taken.get(0));
            });
        };
    }

    /** Returns whether the other one has come; if not, it is done. */
    private static boolean meet(CyclicBarrier both) throws InterruptedException {
        try {
            both.await(120, TimeUnit.SECONDS);
            return true;
        } catch (BrokenBarrierException | TimeoutException e) {
            return false;
        }
    }

    @Test
    void soundSemaphore_passes() {
        semaphore = semaphore(BrokenSharedLocksIT::inTurn);
        assertSound(play(PermitsSuite.class, "smallRequest_doesNotPassAWaitingLargeOne"), 1);
        assertSound(play(PermitsSuite.class, "waiter_isWokenByAnyReturnedLease"), 1);
        assertSound(play(PermitsSuite.class, "requestsForAllPermits_neverTakeHalfEach"), 1);
        assertSound(play(PermitsSuite.class, "permitsHeldTogether_areNeverMoreThanTheLimit"), 1);
        assertSound(play(PermitsSuite.class, "permitsWithinTheLimit_areHeldTogether"), 1);
    }

    @Test
    void unfairSemaphore_isFound() {
        semaphore = semaphore(BrokenSharedLocksIT::whoFits);
        assertFound(
                play(PermitsSuite.class, "smallRequest_doesNotPassAWaitingLargeOne"), 1, "Expecting an empty Optional");
    }

    @Test
    @Tag("H23")
    void semaphoreTakingPermitsOneByOne_isFound() {
        semaphore = oneByOne();
        assertFound(
                play(PermitsSuite.class, "requestsForAllPermits_neverTakeHalfEach"),
                1,
                "not granted, or not in time: all permits");
    }

    @Test
    void semaphoreGrantingOneTooMany_isFound() {
        semaphore = semaphore(BrokenSharedLocksIT::oneTooMany);
        assertFound(
                play(PermitsSuite.class, "permitsWithinTheLimit_areHeldTogether"), 1, "Expecting an empty Optional");
    }
}
