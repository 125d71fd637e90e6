// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A lock to explore: how each process creates it, and what it promises.
 *
 * <pre>{@code
 * ExploredLock mutex = ExploredLock.of("mutex", (front, self) -> front.isEmpty(),
 *         (client, path) -> List.of(new InterProcessMutex(client, path)))
 *     .withNesting(0, 0);
 * }</pre>
 *
 * <p>Immutable.
 */
public final class ExploredLock {
    /** The path of all explored locks. */
    static final String PATH = "/locks";

    static final Duration FOR_EVER = Duration.ofDays(36_500);

    private final String name;
    private final Rule rule;
    private final Maker maker;
    // These fields change only in a copy that has not been published yet.
    private List<Nesting> nestings = List.of();
    private UnaryOperator<ZooKeeperOperations> port = UnaryOperator.identity();
    private int localHandoffs;
    private @Nullable ChangingRule changingRule;
    private boolean revoked;
    private Duration longestHold = FOR_EVER;
    private boolean losesPlaces;
    private boolean manyRequests;

    /** Creates the locks that one process uses. */
    @FunctionalInterface
    public interface Maker {
        /**
         * {@return the locks, or the modes of one lock, at least one} A process requests one of them at a time, by
         * any of its methods.
         *
         * @param client the client of the process
         * @param path a path that nothing else uses
         */
        List<InterProcessLock> make(ZooKeeperClient client, String path);
    }

    /** Two locks. A thread that holds the outer one may acquire the inner one, and then release the outer one. */
    record Nesting(int outer, int inner) {}

    private ExploredLock(String name, Rule rule, Maker maker) {
        this.name = name;
        this.rule = rule;
        this.maker = maker;
    }

    private ExploredLock with(Consumer<ExploredLock> change) {
        ExploredLock copy = new ExploredLock(name, rule, maker);
        copy.nestings = nestings;
        copy.port = port;
        copy.localHandoffs = localHandoffs;
        copy.changingRule = changingRule;
        copy.revoked = revoked;
        copy.longestHold = longestHold;
        copy.losesPlaces = losesPlaces;
        copy.manyRequests = manyRequests;
        change.accept(copy);
        return copy;
    }

    /**
     * {@return a lock to explore}
     *
     * @param name what reports call it
     * @param rule what it promises, on each path on which it has nodes
     * @param maker creates the lock in each process
     */
    public static ExploredLock of(String name, Rule rule, Maker maker) {
        return new ExploredLock(
                Objects.requireNonNull(name, "name"),
                Objects.requireNonNull(rule, "rule"),
                Objects.requireNonNull(maker, "maker"));
    }

    /**
     * {@return this lock, where a thread that holds one lock may acquire another: the same lock, if it is re-entrant,
     * or the shared mode while it holds the exclusive one} The thread then releases the outer one first.
     *
     * @param outer the index of the outer lock in the maker's list
     * @param inner the index of the inner lock in the maker's list
     */
    public ExploredLock withNesting(int outer, int inner) {
        List<Nesting> more = new ArrayList<>(nestings);
        more.add(new Nesting(outer, inner));
        return with(copy -> copy.nestings = List.copyOf(more));
    }

    /**
     * Returns this lock with a decorator around each session. The decorator does what ZooKeeper never does, for example
     * loses an event, so a test can prove that the explorer finds such an error.
     */
    ExploredLock through(UnaryOperator<ZooKeeperOperations> decorator) {
        return with(copy -> copy.port = decorator);
    }

    /**
     * {@return this lock, whose nodes may be handed over from one holder to the next inside a process} Each process
     * then requests it more often.
     *
     * @param most how many times a node may be handed over
     */
    public ExploredLock withLocalHandoffs(int most) {
        return with(copy -> copy.localHandoffs = most);
    }

    /**
     * {@return this lock, whose processes change what it promises}
     *
     * @param changing the rule in the data of its node, which is in force once the node has data
     */
    public ExploredLock withChangingRule(ChangingRule changing) {
        return with(copy -> copy.changingRule = changing);
    }

    /**
     * {@return this lock, whose processes also ask each other to release it, and break the leases of processes that
     * do not} Some holders listen, others do not.
     */
    public ExploredLock withRevocations() {
        return with(copy -> copy.revoked = true);
    }

    /**
     * {@return this lock, created with {@link dev.zkrecipes.core.LockOptions#withHoldAtMost}}
     *
     * @param most the longest time for which it may be held
     */
    public ExploredLock withHoldAtMost(Duration most) {
        return with(copy -> copy.longestHold = most);
    }

    /**
     * {@return this lock, created with {@link dev.zkrecipes.core.QueueLossPolicy#FAIL}} A waiter may then fail
     * because its place in the queue is gone.
     */
    public ExploredLock withPlacesLost() {
        return with(copy -> copy.losesPlaces = true);
    }

    /**
     * {@return this lock, whose processes make more requests, and several at a time} A lock
     * {@link #withLocalHandoffs} or {@link #withChangingRule} does so anyway.
     */
    public ExploredLock withManyRequests() {
        return with(copy -> copy.manyRequests = true);
    }

    /** {@return the name of this lock} */
    public String name() {
        return name;
    }

    Rule rule() {
        return rule;
    }

    Maker maker() {
        return maker;
    }

    UnaryOperator<ZooKeeperOperations> port() {
        return port;
    }

    int localHandoffs() {
        return localHandoffs;
    }

    /** Whether the errors to look for need several requests of one process at a time. */
    boolean needsManyRequests() {
        return manyRequests || localHandoffs > 0 || changingRule != null;
    }

    @Nullable
    ChangingRule changingRule() {
        return changingRule;
    }

    Duration longestHold() {
        return longestHold;
    }

    boolean losesPlaces() {
        return losesPlaces;
    }

    boolean isRevoked() {
        return revoked;
    }

    List<Nesting> nestings() {
        return nestings;
    }
}
