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
 * Plays a lock on a simulated ensemble, by the thousand: each seed is a schedule of requests, delays and faults, and
 * after each of its steps the lock's promises are checked.
 *
 * <ul>
 *   <li>holders do not conflict, by the order of the committed transactions
 *   <li>a lease whose node is gone is not valid, whether or not anyone knows that; if somebody else deleted it, or
 *       ended the session before its time, until the next check
 *   <li>a loss is told, once, soon after the node has gone
 *   <li>a verified lease is held
 *   <li>a lease that may be held for a limited time is not valid after that
 *   <li>no request is granted before an earlier one that is still there and that it would have to wait for, and none
 *       whose own node was gone before its turn came
 *   <li>tokens rise
 *   <li>a node that may pass on inside a process has one holder at a time, no more of them than allowed, and none after
 *   a loss
 *   <li>every waiter is granted once the faults are over, and not turned away because of them; no call reports that a
 *       free lock is busy, or ends as interrupted without an interrupt
 *   <li>a call with a time limit ends in time
 *   <li>a holder that listens is told of a request to give the lock back, once the faults are over; the requester is
 *       told when the node is gone, and not before
 *   <li>the driver answers: it does not throw, nor wait for nothing
 *   <li>the engine comes to rest: it does not loop while there is nothing to do
 *   <li>in the end no node, watch, timer or map entry is left
 * </ul>
 *
 * <p>Not played: guarded writes, the {@code java.util.concurrent} view, and calls from several threads of one process
 * at the same time.
 *
 * <pre>{@code
 * Explorer explorer = Explorer.of(mutex);
 * assertThat(explorer.explore(1, 20_000).map(explorer::shrink)).isEmpty();
 * }</pre>
 *
 * <p>Immutable. Each schedule runs on one thread.
 */
public final class Explorer {
    /** How many schedules may still be played after one that breaks a promise. */
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
     * {@return an explorer of a lock with three processes, and all kinds of faults}
     *
     * @param lock what to play
     */
    public static Explorer of(ExploredLock lock) {
        return new Explorer(Objects.requireNonNull(lock, "lock"), 3, EnumSet.allOf(FaultKind.class));
    }

    /**
     * {@return this explorer with another number of processes}
     *
     * @param count at least 1
     */
    public Explorer withClients(int count) {
        if (count < 1) {
            throw new IllegalArgumentException("no clients: " + count);
        }
        return new Explorer(lock, count, faults);
    }

    /** This explorer with these faults only. */
    Explorer withFaults(Set<FaultKind> kinds) {
        return new Explorer(lock, clients, Set.copyOf(kinds));
    }

    /**
     * Plays schedules until a promise is broken, several at the same time.
     *
     * @param firstSeed the first seed; the others follow it
     * @param count how many schedules
     * @return the broken promise of the lowest seed; empty if all were kept
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
     * @param seed which one to play
     */
    public Optional<Violation> play(long seed) {
        return play(Choices.random(seed), seed, null);
    }

    /**
     * Plays a schedule again and records what happens.
     *
     * @param violation what was seen
     * @return the same with its trace
     * @throws IllegalStateException if nothing is broken this time: the lock is not deterministic
     */
    public Violation replay(Violation violation) {
        return play(Choices.replay(violation.answers()), violation.seed(), new ArrayList<>())
                .orElseThrow(() -> new IllegalStateException("not broken again, so the lock of " + lock.name()
                        + " does not only depend on its ports: " + violation));
    }

    /**
     * Makes a schedule in which the same promise is broken simpler, by leaving out and evening out choices, and records
     * what happens in the simplest that it finds.
     *
     * @param violation what was seen
     * @return the same promise broken in a simpler schedule, with its trace
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
        try {
            new Schedule(lock, clients, faults, choices, trace).run();
            return Optional.empty();
        } catch (BrokenPromise broken) {
            List<Integer> taken = Arrays.stream(choices.taken()).boxed().toList();
            List<String> lines = trace == null ? List.of() : List.copyOf(trace);
            return Optional.of(new Violation(lock.name(), broken.rule(), broken.seen(), seed, taken, lines));
        }
    }
}
