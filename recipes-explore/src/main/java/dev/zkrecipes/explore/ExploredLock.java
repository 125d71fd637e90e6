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
 * A lock to explore: how each process makes it, and what it promises.
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
    /** Where the locks are. */
    static final String PATH = "/locks";

    static final Duration FOR_EVER = Duration.ofDays(36_500);

    private final String name;
    private final Rule rule;
    private final Maker maker;
    // Changed only in a copy that nobody has seen yet.
    private List<Nesting> nestings = List.of();
    private UnaryOperator<ZooKeeperOperations> port = UnaryOperator.identity();
    private int localHandoffs;
    private @Nullable ChangingRule changingRule;
    private boolean revoked;
    private Duration longestHold = FOR_EVER;
    private boolean losesPlaces;
    private boolean manyRequests;

    /** Makes what one process uses. */
    @FunctionalInterface
    public interface Maker {
        /**
         * {@return the locks, or the modes of one lock, at least one} A process asks for one of them at a time, by any
         * of its methods.
         *
         * @param client the process' client
         * @param path a path that is all theirs
         */
        List<InterProcessLock> make(ZooKeeperClient client, String path);
    }

    /** Two locks of which a thread that holds the first may take the second and then give back the first. */
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
     * {@return a lock}
     *
     * @param name what to call it
     * @param rule what it promises, on each path where it has nodes
     * @param maker makes it in each process
     */
    public static ExploredLock of(String name, Rule rule, Maker maker) {
        return new ExploredLock(
                Objects.requireNonNull(name, "name"),
                Objects.requireNonNull(rule, "rule"),
                Objects.requireNonNull(maker, "maker"));
    }

    /**
     * {@return this lock, where a thread may take one while it holds another: the same one, if it is re-entrant, or the
     * shared mode beside the exclusive one} It then gives back the outer one first.
     *
     * @param outer which of what the maker makes, from 0
     * @param inner the other one
     */
    public ExploredLock withNesting(int outer, int inner) {
        List<Nesting> more = new ArrayList<>(nestings);
        more.add(new Nesting(outer, inner));
        return with(copy -> copy.nestings = List.copyOf(more));
    }

    /** This lock, with something around each session that does what ZooKeeper never does, as to lose an event. */
    ExploredLock through(UnaryOperator<ZooKeeperOperations> decorator) {
        return with(copy -> copy.port = decorator);
    }

    /**
     * {@return this lock, whose nodes may pass from holder to holder inside a process} Each process then asks for it
     * more often.
     *
     * @param most how often a node may
     */
    public ExploredLock withLocalHandoffs(int most) {
        return with(copy -> copy.localHandoffs = most);
    }

    /**
     * {@return this lock, whose processes change what it promises}
     *
     * @param changing the rule that its node holds, which is in force once there is one
     */
    public ExploredLock withChangingRule(ChangingRule changing) {
        return with(copy -> copy.changingRule = changing);
    }

    /**
     * {@return this lock, whose processes also ask each other to give it back, and break the leases of those that do
     * not} Some holders listen, others do not.
     */
    public ExploredLock withRevocations() {
        return with(copy -> copy.revoked = true);
    }

    /**
     * {@return this lock, created with {@link dev.zkrecipes.core.LockOptions#withHoldAtMost}}
     *
     * @param most how long it is held at most
     */
    public ExploredLock withHoldAtMost(Duration most) {
        return with(copy -> copy.longestHold = most);
    }

    /**
     * {@return this lock, created with {@link dev.zkrecipes.core.QueueLossPolicy#FAIL}: a waiter may be turned away
     * because its place in the queue is gone}
     */
    public ExploredLock withPlacesLost() {
        return with(copy -> copy.losesPlaces = true);
    }

    /**
     * {@return this lock, whose processes ask more often, and for several at a time} It is so anyway for a lock {@link
     * #withLocalHandoffs} and one {@link #withChangingRule}.
     */
    public ExploredLock withManyRequests() {
        return with(copy -> copy.manyRequests = true);
    }

    /** {@return its name} */
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

    /** Whether what may go wrong needs several requests of one process at a time. */
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
