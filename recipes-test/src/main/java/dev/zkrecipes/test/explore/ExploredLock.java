// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.explore;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
    private final List<Nesting> nestings;
    private final UnaryOperator<ZooKeeperOperations> port;
    private final int localHandoffs;
    private final @Nullable ChangingRule changingRule;
    private final boolean revoked;
    private final Duration longestHold;
    private final boolean losesPlaces;
    private final boolean manyRequests;

    /** Makes what one process uses. */
    @FunctionalInterface
    public interface Maker {
        /**
         * Makes the locks, or the modes of one lock.
         *
         * @param client the process' client
         * @param path a path that is all theirs
         * @return at least one; a process asks for one of them at a time, by any of its methods
         */
        List<InterProcessLock> make(ZooKeeperClient client, String path);
    }

    /** Two locks of which a thread that holds the first may take the second and then give back the first. */
    record Nesting(int outer, int inner) {}

    private ExploredLock(
            String name,
            Rule rule,
            Maker maker,
            List<Nesting> nestings,
            UnaryOperator<ZooKeeperOperations> port,
            int localHandoffs,
            @Nullable ChangingRule changingRule,
            boolean revoked,
            Duration longestHold,
            boolean losesPlaces,
            boolean manyRequests) {
        this.name = name;
        this.rule = rule;
        this.maker = maker;
        this.nestings = nestings;
        this.port = port;
        this.localHandoffs = localHandoffs;
        this.changingRule = changingRule;
        this.revoked = revoked;
        this.longestHold = longestHold;
        this.losesPlaces = losesPlaces;
        this.manyRequests = manyRequests;
    }

    /**
     * A lock.
     *
     * @param name what to call it
     * @param rule what it promises, on each path where it has nodes
     * @param maker makes it in each process
     * @return the lock
     */
    public static ExploredLock of(String name, Rule rule, Maker maker) {
        return new ExploredLock(
                name, rule, maker, List.of(), UnaryOperator.identity(), 0, null, false, FOR_EVER, false, false);
    }

    /**
     * The same, where a thread may take one while it holds another: the same one, if it is re-entrant, or the shared mode
     * beside the exclusive one. It then gives back the outer one first.
     *
     * @param outer which of what the maker makes, from 0
     * @param inner the other one
     * @return the lock
     */
    public ExploredLock withNesting(int outer, int inner) {
        List<Nesting> more = new ArrayList<>(nestings);
        more.add(new Nesting(outer, inner));
        return new ExploredLock(
                name,
                rule,
                maker,
                List.copyOf(more),
                port,
                localHandoffs,
                changingRule,
                revoked,
                longestHold,
                losesPlaces,
                manyRequests);
    }

    /**
     * The same, with something between the engine and the ensemble: to see what happens if an event is lost, or
     * something else happens that ZooKeeper never does.
     *
     * @param decorator put around each session
     * @return the lock
     */
    public ExploredLock through(UnaryOperator<ZooKeeperOperations> decorator) {
        return new ExploredLock(
                name,
                rule,
                maker,
                nestings,
                decorator,
                localHandoffs,
                changingRule,
                revoked,
                longestHold,
                losesPlaces,
                manyRequests);
    }

    /**
     * The same, whose nodes may pass from holder to holder inside a process. Each process then asks for it more often.
     *
     * @param most how often a node may
     * @return the lock
     */
    public ExploredLock withLocalHandoffs(int most) {
        return new ExploredLock(
                name, rule, maker, nestings, port, most, changingRule, revoked, longestHold, losesPlaces, manyRequests);
    }

    /**
     * The same, whose processes change what it promises.
     *
     * @param changing the rule that its node holds, which is in force once there is one
     * @return the lock
     */
    public ExploredLock withChangingRule(ChangingRule changing) {
        return new ExploredLock(
                name,
                rule,
                maker,
                nestings,
                port,
                localHandoffs,
                changing,
                revoked,
                longestHold,
                losesPlaces,
                manyRequests);
    }

    /**
     * The same, whose processes also ask each other to give it back, and break the leases of those that do not. Some
     * holders listen, others do not.
     *
     * @return the lock
     */
    public ExploredLock withRevocations() {
        return new ExploredLock(
                name,
                rule,
                maker,
                nestings,
                port,
                localHandoffs,
                changingRule,
                true,
                longestHold,
                losesPlaces,
                manyRequests);
    }

    /**
     * The same, created with {@link dev.zkrecipes.core.LockOptions#holdAtMost}.
     *
     * @param most how long it is held at most
     * @return the lock
     */
    public ExploredLock withHoldAtMost(Duration most) {
        return new ExploredLock(
                name,
                rule,
                maker,
                nestings,
                port,
                localHandoffs,
                changingRule,
                revoked,
                most,
                losesPlaces,
                manyRequests);
    }

    /**
     * The same, created with {@link dev.zkrecipes.core.QueueLossPolicy#FAIL}: a waiter may be turned away because its place in
     * the queue is gone.
     *
     * @return the lock
     */
    public ExploredLock withPlacesLost() {
        return new ExploredLock(
                name,
                rule,
                maker,
                nestings,
                port,
                localHandoffs,
                changingRule,
                revoked,
                longestHold,
                true,
                manyRequests);
    }

    /**
     * The same, whose processes ask more often, and for several at a time. It is so anyway for a lock {@link #withLocalHandoffs}
     * and one {@link #withChangingRule}.
     *
     * @return the lock
     */
    public ExploredLock withManyRequests() {
        return new ExploredLock(
                name,
                rule,
                maker,
                nestings,
                port,
                localHandoffs,
                changingRule,
                revoked,
                longestHold,
                losesPlaces,
                true);
    }

    /**
     * Its name.
     *
     * @return the name
     */
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
