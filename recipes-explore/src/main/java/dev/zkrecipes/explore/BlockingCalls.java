// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.explore.ExploredLock.Nesting;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The blocking calls of a process, made as a thread makes them: tries, acquires with or without a time limit, nested
 * holds, and changes of the rule. A call includes the hold that it leads to, and ends when the locks have been
 * released.
 */
final class BlockingCalls {
    /** How long an answer from the server may take. */
    static final Duration ANSWER = Schedule.SESSION.dividedBy(3);
    /** How long a server may show a state that is out of date. */
    static final Duration MOST_BEHIND = Schedule.SESSION.multipliedBy(4).dividedBy(3);

    private static final Duration LONG = Duration.ofMinutes(5);
    private static final Duration SLACK = Duration.ofMillis(50);

    private final Schedule schedule;
    private final Actor actor;
    private final ZooKeeperClient client;
    private final List<InterProcessLock> locks;

    BlockingCalls(Schedule schedule, Actor actor, ZooKeeperClient client, List<InterProcessLock> locks) {
        this.schedule = schedule;
        this.actor = actor;
        this.client = client;
        this.locks = locks;
    }

    /**
     * Acquires a lock, or one lock inside another.
     *
     * @param kind the kind of the call, 4 to 7
     */
    void acquire(int which, int kind) {
        InterProcessLock lock = locks.get(which);
        long begin = schedule.simulation().now();
        List<Nesting> nestings = schedule.lock().nestings();
        List<Integer> asked = List.of(which);
        try {
            if (kind == 4) {
                actor.tell("tries " + lock.path());
                holdAndGiveBack(tryAcquire(lock));
            } else if (kind == 5 || nestings.isEmpty()) {
                Duration limit = actor.duration(128);
                actor.tell("tries " + lock.path() + " for " + limit);
                holdAndGiveBack(tryAcquire(lock, limit));
            } else {
                Nesting nesting = nestings.get(actor.choices().next(nestings.size()));
                asked = List.of(nesting.outer(), nesting.inner());
                nest(nesting);
            }
        } catch (InterruptedException e) {
            onInterrupt();
        } catch (LockConnectionException e) {
            actor.tell("cannot know: " + e.getMessage());
        } catch (LockLostException e) {
            actor.tell("is told of the loss: " + e.getMessage());
        } catch (LockException e) {
            if (!schedule.isClosed(actor) && !actor.mayEnd(e, asked, begin)) {
                actor.turnedAway("a request is not turned away", e);
            }
        }
    }

    void change(ChangingRule changing) {
        int which = actor.choices().next(changing.changes().size());
        request("a change of the rule is not turned away", () -> {
            actor.tell("makes change " + which + " of the rule");
            changing.changes().get(which).make(client, ExploredLock.PATH);
            actor.tell("has made it");
        });
    }

    void askBack(int which) {
        request(
                "a request to give a lock back is not turned away",
                () -> new AskingBack(schedule, actor, this, client).ask(locks.get(which)));
    }

    /** A call that acquires nothing. */
    @FunctionalInterface
    private interface Request {
        void make() throws InterruptedException;
    }

    private void request(String promise, Request request) {
        try {
            request.make();
        } catch (InterruptedException e) {
            onInterrupt();
        } catch (LockConnectionException e) {
            actor.tell("cannot know: " + e.getMessage());
        } catch (LockException e) {
            if (!schedule.isClosed(actor)) {
                actor.turnedAway(promise, e);
            }
        }
    }

    /** Tries, and checks that a free lock is not reported as busy. */
    private Optional<Lease> tryAcquire(InterProcessLock lock) throws InterruptedException {
        long begin = schedule.simulation().now();
        Optional<Lease> lease = timed(ANSWER, lock::tryAcquire);
        if (lease.isEmpty() && !schedule.wasBusySince(begin - MOST_BEHIND.toNanos())) {
            schedule.judge()
                    .accuse("a request is not turned away", actor.name() + " was told that a free lock is busy");
        }
        return lease;
    }

    private Optional<Lease> tryAcquire(InterProcessLock lock, Duration limit) throws InterruptedException {
        return timed(limit.isZero() ? ANSWER : limit, () -> lock.tryAcquire(limit));
    }

    /** Makes a call, and checks that it ends in time. */
    <T> T timed(Duration limit, Call<T> call) throws InterruptedException {
        long begin = schedule.simulation().now();
        try {
            return call.make();
        } finally {
            Duration took = Duration.ofNanos(schedule.simulation().now() - begin);
            if (took.compareTo(limit.plus(SLACK)) > 0 && !actor.scheduler().wasPausedSince(begin)) {
                schedule.judge()
                        .accuse(
                                "a call ends in time",
                                actor.name() + " got its answer after " + took.toMillis() + " ms of "
                                        + limit.toMillis());
            }
        }
    }

    /** A call that blocks. */
    @FunctionalInterface
    interface Call<T> {
        T make() throws InterruptedException;
    }

    private void holdAndGiveBack(Optional<Lease> lease) throws InterruptedException {
        if (lease.isPresent()) {
            actor.granted(lease.get());
            try {
                actor.scheduler().sleep(actor.duration(64));
                if (actor.choices().chance(300)) {
                    verify(lease.get());
                } else if (actor.choices().chance(300)) {
                    verifyThroughAnOutage(lease.get());
                }
            } finally {
                close(lease.get());
            }
        }
    }

    /** Acquires one lock inside another, and releases the outer one first. */
    private void nest(Nesting nesting) throws InterruptedException {
        InterProcessLock outer = locks.get(nesting.outer());
        actor.tell("takes " + outer.path() + " and then the other mode, or the same again");
        Optional<Lease> first = tryAcquire(outer, actor.duration(128));
        if (first.isEmpty()) {
            return;
        }
        List<Lease> holds = new ArrayList<>(first.stream().toList());
        try {
            actor.granted(holds.get(0));
            actor.scheduler().sleep(actor.duration(96));
            acquireToTheEnd(locks.get(nesting.inner()), holds.get(0)).ifPresent(lease -> {
                holds.add(lease);
                actor.granted(lease);
            });
            actor.scheduler().sleep(actor.duration(32));
            close(holds.remove(0));
            actor.scheduler().sleep(actor.duration(32));
        } finally {
            holds.forEach(this::close);
        }
    }

    /** Acquires, and waits for longer than any fault lasts. */
    private Optional<Lease> acquireToTheEnd(InterProcessLock lock, Lease outer) throws InterruptedException {
        try {
            if (actor.choices().chance(500)) {
                return Optional.of(lock.acquire());
            }
            Optional<Lease> lease = tryAcquire(lock, LONG);
            if (lease.isEmpty()) {
                schedule.judge()
                        .accuse("every waiter is granted or told why not", actor.name() + " waited for " + LONG);
            }
            return lease;
        } catch (LockLostException e) {
            if (outer.state() != LeaseState.LOST) {
                actor.turnedAway("a waiter is not turned away", e);
            }
            throw e;
        } catch (LockConnectionException e) {
            actor.turnedAway("a waiter is not turned away", e);
            throw e;
        }
    }

    private void onInterrupt() {
        actor.tell("is interrupted");
        if (!schedule.isInterrupted()) {
            schedule.judge().accuse("only an interrupt interrupts", actor.name() + " was interrupted by nobody");
        }
    }

    /**
     * Verifies a lease while no server can be reached. Some answers come with the next connection, and some never.
     */
    private void verifyThroughAnOutage(Lease lease) throws InterruptedException {
        schedule.cutOff(actor);
        for (int i = 0; i < 3; i++) {
            try {
                verify(lease);
            } catch (LockConnectionException e) {
                actor.tell("cannot know: " + e.getMessage());
            }
            actor.scheduler().sleep(actor.duration(32));
        }
    }

    /** Verifies a lease. Checks before the call whether its nodes exist, by the order of the transactions. */
    private void verify(Lease lease) throws InterruptedException {
        boolean wasThere = schedule.judge().allNodesAreThere(lease);
        actor.tell("verifies " + lease.path());
        lease.verify();
        if (!wasThere) {
            schedule.judge().accuse("a verified lease is held", actor.name() + ": " + lease);
        }
    }

    private void close(Lease lease) {
        actor.tell("gives back " + lease.path());
        schedule.onClosing(lease);
        lease.close();
    }
}
