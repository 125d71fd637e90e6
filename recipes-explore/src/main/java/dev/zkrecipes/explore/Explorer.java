// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import dev.zkrecipes.explore.sim.Choices;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Plays a lock on a simulated ensemble, thousands of times. Each seed is a schedule of requests, delays and faults.
 * After each step of a schedule, the explorer checks the promises of the lock:
 *
 * <ul>
 *   <li>Holders do not conflict, by the order of the committed transactions.
 *   <li>A lease whose node is gone is not valid, whether or not anyone knows that it is gone. If somebody else deletes
 *       the node, or ends the session before its time-out, the lease may stay valid until its next check.
 *   <li>A loss is reported once, soon after the node is gone.
 *   <li>A verified lease is held.
 *   <li>A lease that may be held for a limited time is not valid after that time.
 *   <li>No request is granted before an earlier request whose node still exists and for which it has to wait. No
 *       request is granted whose own node was gone before its turn came.
 *   <li>Fencing tokens increase.
 *   <li>A node that may be handed over inside a process has one holder at a time. It is handed over no more often than
 *       allowed, and not after a loss.
 *   <li>Every waiter is granted once the faults have ended, and none fails because of them. No call reports a free lock
 *       as busy, or ends as interrupted without an interrupt.
 *   <li>A call with a time limit ends in time.
 *   <li>A holder that listens is notified of a request to release the lock, once the faults have ended. The requester
 *       is told that the node is gone, but not before it is.
 *   <li>The driver answers: it neither throws nor waits for nothing.
 *   <li>The engine comes to rest: it does not loop while there is nothing to do.
 *   <li>At the end no node, watch, timer or map entry is left. Views of queues may be kept, each with a watch on the
 *       path of the lock, until they have been unused for a minute.
 * </ul>
 *
 * <p>The explorer does not play guarded writes, the {@code java.util.concurrent} view of a lock, or calls from several
 * threads of one process at the same time.
 *
 * <pre>{@code
 * Explorer explorer = Explorer.of(mutex);
 * assertThat(explorer.explore(1, 20_000).map(explorer::shrink)).isEmpty();
 * }</pre>
 *
 * <p>Immutable. Each schedule runs on one thread.
 */
public final class Explorer {
    /**
     * The number of schedules that are played together. At most this many are played after one that breaks a promise.
     */
    private static final int PORTION = 10_000;

    private final ExploredLock lock;
    private final int clients;
    private final Set<FaultKind> faults;

    private Explorer(ExploredLock lock, int clients, Set<FaultKind> faults) {
        this.lock = lock;
        this.clients = clients;
        this.faults = faults;
    }

    /**
     * {@return an explorer of a lock, with three processes and all kinds of faults}
     *
     * @param lock the lock to play
     */
    public static Explorer of(ExploredLock lock) {
        return new Explorer(Objects.requireNonNull(lock, "lock"), 3, EnumSet.allOf(FaultKind.class));
    }

    /**
     * {@return this explorer with another number of processes}
     *
     * @param count the number of processes, at least 1
     */
    public Explorer withClients(int count) {
        if (count < 1) {
            throw new IllegalArgumentException("no clients: " + count);
        }
        return new Explorer(lock, count, faults);
    }

    /** Returns this explorer with only these kinds of faults. */
    Explorer withFaults(Set<FaultKind> kinds) {
        return new Explorer(lock, clients, Set.copyOf(kinds));
    }

    /**
     * Plays schedules until a promise is broken, several at the same time.
     *
     * @param firstSeed the first seed; the others follow it
     * @param count the number of schedules
     * @return the broken promise with the lowest seed; empty if all promises were kept
     */
    public Optional<Violation> explore(long firstSeed, int count) {
        Optional<Violation> broken = Optional.empty();
        for (int played = 0; played < count && broken.isEmpty(); played += PORTION) {
            broken = LongStream.range(firstSeed + played, firstSeed + Math.min(count, played + PORTION))
                    .parallel()
                    .mapToObj(this::play)
                    .flatMap(Optional::stream)
                    .findFirst();
        }
        return broken;
    }

    /**
     * {@return the promise that is broken in a schedule; empty if all are kept}
     *
     * @param seed the seed of the schedule to play
     */
    public Optional<Violation> play(long seed) {
        return play(Choices.random(seed), seed, null);
    }

    /**
     * Plays a schedule again and records what happens.
     *
     * @param violation the broken promise of that schedule
     * @return the same broken promise, with its trace
     * @throws IllegalStateException if no promise is broken this time, because the lock is not deterministic
     */
    public Violation replay(Violation violation) {
        return play(Choices.replay(violation.answers()), violation.seed(), new ArrayList<>())
                .orElseThrow(() -> new IllegalStateException("not broken again, so the lock of " + lock.name()
                        + " does not only depend on its ports: " + violation));
    }

    /**
     * Simplifies a schedule in which a promise is broken, by leaving out choices and making others plain. Records
     * what happens in the simplest schedule that it finds.
     *
     * @param violation the broken promise
     * @return the same promise, broken in a simpler schedule, with its trace
     */
    public Violation shrink(Violation violation) {
        int[] simplest = new Shrinker(answers -> play(Choices.replay(answers), violation.seed(), null)
                        .filter(found -> found.rule().equals(violation.rule()))
                        .isPresent())
                .shrink(violation.answers());
        return play(Choices.replay(simplest), violation.seed(), new ArrayList<>())
                .orElseThrow();
    }

    private Optional<Violation> play(Choices choices, long seed, @Nullable List<String> trace) {
        // A blocking call of the schedule runs on this thread, and would end by an interrupt that is not its own.
        boolean wasInterrupted = Thread.interrupted();
        try {
            new Schedule(lock, clients, faults, choices, trace).run();
            return Optional.empty();
        } catch (BrokenPromise broken) {
            List<Integer> taken = Arrays.stream(choices.taken()).boxed().toList();
            List<String> lines = trace == null ? List.of() : List.copyOf(trace);
            return Optional.of(new Violation(lock.name(), broken.rule(), broken.seen(), seed, taken, lines));
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
