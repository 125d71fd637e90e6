// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import com.google.common.base.Throwables;
import com.google.common.collect.Sets;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLimitException;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.QueuePlaceLostException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.port.Ports;
import dev.zkrecipes.explore.sim.Choices;
import dev.zkrecipes.explore.sim.SimulatedProcess;
import dev.zkrecipes.explore.sim.SimulatedScheduler;
import dev.zkrecipes.test.internal.Remains;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A simulated process that requests the lock a few times, one request after the other or several at once. A request is
 * asynchronous, has a time limit, is a try, or acquires one mode inside the other. The process waits, gives up or is
 * interrupted; it holds the lock for a while and releases it.
 *
 * <p>A blocking call lets all other events happen before it returns. Everything runs on one thread, so a second
 * blocking call would be nested in the first and could not return before it. So only one process at a time makes
 * blocking calls, and the others make asynchronous requests meanwhile.
 */
final class Actor {
    private static final int MILLIS = 25;
    /** The number of timers of a client at rest. With this timer the client notices that its process was paused. */
    private static final int OWN_TIMERS = 1;
    /** One timer removes unused views, and one checks whether the watches of the views still exist. */
    private static final int TIMERS_OF_VIEWS = 2;

    private final Schedule schedule;
    private final String name;
    private final SimulatedScheduler scheduler;
    private final SimulatedProcess process;
    private final ZooKeeperClient client;
    private final List<InterProcessLock> locks;
    private final BlockingCalls calls;
    private final Set<Lease> heldAsync = Sets.newIdentityHashSet(); // open leases of asynchronous requests
    private final Set<Lease> listening = Sets.newIdentityHashSet(); // leases that are released on request
    private int left; // requests still to be made
    private int running; // requests and holds that have not ended

    Actor(Schedule schedule, int number, int requests) {
        this.schedule = schedule;
        this.name = "client " + number;
        this.scheduler = new SimulatedScheduler(schedule.simulation(), number, this::onEngineFailure);
        this.process = schedule.ensemble().process(scheduler, name);
        this.client = Ports.clientBuilder(states -> schedule.lock().port().apply(process.open(states)), scheduler)
                .callbackExecutor(Runnable::run)
                .sessionTimeout(Schedule.SESSION)
                .ownerLabel(name)
                .build();
        this.locks = schedule.lock().maker().make(client, ExploredLock.PATH);
        this.calls = new BlockingCalls(schedule, this, client, locks);
        this.left = requests;
        int later = schedule.isInTurns() ? choices().next(128) : 0;
        scheduler.after(duration(16).plusMillis((long) MILLIS * later), this::next);
    }

    private void onEngineFailure(Throwable failure) {
        if (failure instanceof BrokenPromise broken) {
            throw broken;
        }
        schedule.judge().accuse("the engine does not fail", name + ": " + failure + cause(failure));
    }

    private static String cause(@Nullable Throwable failure) {
        return failure == null || failure.getCause() == null
                ? ""
                : ", caused by " + Throwables.getStackTraceAsString(failure.getCause());
    }

    SimulatedScheduler scheduler() {
        return scheduler;
    }

    SimulatedProcess process() {
        return process;
    }

    boolean isDone() {
        return left == 0 && running == 0;
    }

    String name() {
        return name;
    }

    String describe() {
        return name + (running == 0 ? "" : ", with " + running + " requests or leases");
    }

    Choices choices() {
        return schedule.simulation().choices();
    }

    void tell(String what) {
        schedule.simulation().tell(name, () -> what);
    }

    Duration duration(int bound) {
        return Duration.ofMillis((long) MILLIS * choices().skewed(bound));
    }

    // ---- Requests.

    private void next() {
        if (left == 0) {
            return;
        }
        left--;
        running++;
        int together = schedule.isInTurns() ? 100 : schedule.lock().needsManyRequests() ? 700 : 300;
        if (choices().chance(together)) {
            scheduler.after(duration(16), this::next); // another request at the same time
        }
        int which = choices().next(locks.size());
        int kind = choices().next(8);
        schedule.onAsking();
        if (kind < 4 || !schedule.tryBlocking()) {
            askAsync(which, kind == 3);
            return;
        }
        try {
            ChangingRule changing = schedule.lock().changingRule();
            if (changing != null && choices().chance(600)) {
                calls.change(changing);
            } else if (schedule.lock().isRevoked() && choices().chance(500)) {
                calls.askBack(which);
            } else {
                calls.acquire(which, kind);
            }
        } finally {
            schedule.endBlocking();
        }
        done();
    }

    private void done() {
        running--;
        scheduler.after(duration(32), this::next);
    }

    private void askAsync(int which, boolean mayCancel) {
        InterProcessLock lock = locks.get(which);
        long begin = schedule.simulation().now();
        tell("asks for " + lock.path());
        CompletableFuture<Lease> future = lock.acquireAsync();
        if (mayCancel) {
            scheduler.after(duration(64), () -> {
                if (future.cancel(false)) {
                    tell("gives up");
                }
            });
        }
        // The callback executor of this client runs callbacks on the engine thread.
        CompletableFuture<Void> told = future.handle((lease, failure) -> {
            if (lease != null) {
                onLease(lease);
            } else {
                onRefused(failure, mayCancel, which, begin);
            }
            return null;
        });
        schedule.keep(told);
    }

    private void onLease(Lease lease) {
        granted(lease);
        heldAsync.add(lease);
        if (schedule.lock().isRevoked() && choices().chance(500)) {
            listening.add(lease);
            lease.onRevocationRequested(request -> {
                tell("is asked to give back " + lease.path());
                endHold(lease);
            });
        }
        if (choices().chance(60) && schedule.tryHoldingLong()) {
            holdLong(lease);
        } else {
            holdUntil(lease, duration(64));
        }
    }

    private void holdUntil(Lease lease, Duration time) {
        scheduler.after(time, () -> endHold(lease));
    }

    /** Ends a hold when its time has elapsed or when somebody requests its release, whichever comes first. */
    private void endHold(Lease lease) {
        if (heldAsync.remove(lease)) {
            listening.remove(lease);
            giveBack(lease);
            done();
        }
    }

    /**
     * Holds for so long that every request that may hold at the same time must have been granted by then, unless the
     * engine has forgotten it.
     */
    private void holdLong(Lease lease) {
        Duration time = Schedule.SESSION.multipliedBy(4);
        List<QueuedNode> asleep = new ArrayList<>();
        AtomicBoolean asked = new AtomicBoolean();
        scheduler.after(time.minus(Schedule.SESSION), () -> {
            asleep.addAll(schedule.eligibleWaiters());
            asked.set(schedule.isCalm() && schedule.judge().isAskedBack(lease));
        });
        scheduler.after(time, () -> {
            if (heldAsync.contains(lease)) {
                schedule.requireAwake(asleep, "whoever may hold is woken");
                requireTold(lease, asked.get());
            }
            endHold(lease);
        });
    }

    private void requireTold(Lease lease, boolean wasAsked) {
        if (wasAsked && listening.contains(lease) && schedule.isCalm() && lease.state() != LeaseState.LOST) {
            schedule.judge().accuse("a holder that listens is told", name + " was asked long ago: " + lease);
        }
    }

    private void onRefused(@Nullable Throwable failure, boolean mayCancel, int which, long begin) {
        if (!(failure instanceof CancellationException && mayCancel)
                && !schedule.isClosed(this)
                && !mayEnd(failure, List.of(which), begin)) {
            turnedAway("a waiter is not turned away", failure);
        }
        scheduler.after(Duration.ZERO, this::done);
    }

    /**
     * Whether a waiting request for one of these locks may end in this way without the lock, although its client is
     * open.
     */
    boolean mayEnd(@Nullable Throwable failure, List<Integer> asked, long begin) {
        return neverMayHold(failure, asked, begin)
                || mayHaveLostPlace(failure)
                || (failure instanceof LockLimitException && schedule.isNearEndOfCounters());
    }

    private boolean mayHaveLostPlace(@Nullable Throwable failure) {
        return schedule.lock().losesPlaces() && failure instanceof QueuePlaceLostException && !schedule.isCalmForLong();
    }

    /**
     * Whether the failure is a refusal by a rule that never grants one of these locks, and that a server may have shown
     * since the request was made.
     */
    boolean neverMayHold(@Nullable Throwable failure, List<Integer> asked, long begin) {
        ChangingRule changing = schedule.lock().changingRule();
        if (changing == null || !(failure instanceof LockRefusedException) || failure.getCause() != null) {
            return false;
        }
        long since = begin - BlockingCalls.MOST_BEHIND.toNanos();
        return asked.stream()
                .anyMatch(which ->
                        schedule.judge().turns().neverMayHold(changing.kinds().get(which), since));
    }

    /**
     * Reports a request that failed without a reason. If the driver threw, as it does when it waits for nothing,
     * accuses the driver rather than the request.
     */
    void turnedAway(String promise, @Nullable Throwable failure) {
        boolean byDriver = failure instanceof LockRefusedException && failure.getCause() != null;
        schedule.judge().accuse(byDriver ? "the driver answers" : promise, name + ": " + failure + cause(failure));
    }

    void granted(Lease lease) {
        tell("is granted " + lease.path());
        schedule.judge().onGranted(scheduler, name, lease, process.sessionId());
    }

    private void giveBack(Lease lease) {
        tell("gives back " + lease.path());
        schedule.onClosing(lease);
        schedule.keep(lease.closeAsync());
    }

    // ---- The end.

    /** Makes one more request, when nobody else holds or waits. */
    CompletableFuture<Lease> askAtTheEnd() {
        tell("asks when nobody is there");
        return locks.get(0).acquireAsync();
    }

    void close() {
        tell("closes its client");
        left = 0;
        client.close();
    }

    /** Whether the client still keeps a view, a watch or a timer. */
    boolean keepsSomething() {
        return !schedule.isClosed(this)
                && (Remains.keptViews(client) > 0 || process.watches() > 0 || scheduler.timers() > OWN_TIMERS);
    }

    /**
     * Names what should be gone when everything has been released. Views may be kept until they have been unused for a
     * minute.
     */
    List<String> leftovers() {
        List<String> found = new ArrayList<>();
        int views = Remains.keptViews(client);
        if (process.watches() > views) {
            found.add(name + " has " + process.watches() + " watches");
        }
        if (scheduler.timers() > OWN_TIMERS + (views > 0 ? TIMERS_OF_VIEWS : 0)) {
            found.add(name + " has set " + scheduler.timers() + " timers");
        }
        Remains.in(client).forEach(what -> found.add(name + ": " + what));
        return found;
    }
}
