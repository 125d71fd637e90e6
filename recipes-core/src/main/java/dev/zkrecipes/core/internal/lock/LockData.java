// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The open holds of one owner: of a thread, through all locks of a client, or of a lock instance that holds for whoever
 * comes. They are found by path and rule. A thread opens and closes its own; once it is dead, any thread may close them,
 * so the collections are concurrent ones.
 */
public final class LockData {
    private final @Nullable Thread owner;
    private final Map<String, Deque<Hold>> open = new ConcurrentHashMap<>(); // by path, the youngest first
    private final Set<String> warnedOf = new HashSet<>(0); // confined to the engine thread

    public LockData(@Nullable Thread owner) {
        this.owner = owner;
    }

    @Nullable
    public Thread owner() {
        return owner;
    }

    public String ownerName() {
        return owner == null ? "any thread" : owner.getName();
    }

    /** Whether the calling thread may give back what is recorded here. */
    public boolean mayClose() {
        return owner == null || owner == Thread.currentThread() || !owner.isAlive();
    }

    public boolean isOrphaned() {
        return owner != null && !owner.isAlive();
    }

    // ---- Opening and closing.

    public void opened(Hold hold) {
        for (String path : hold.targets().paths()) {
            open.compute(path, (key, holds) -> {
                Deque<Hold> all = holds == null ? new ConcurrentLinkedDeque<>() : holds;
                all.addFirst(hold);
                return all;
            });
        }
    }

    public void closed(Hold hold) {
        for (String path : hold.targets().paths()) {
            open.computeIfPresent(path, (key, holds) -> {
                holds.remove(hold);
                return holds.isEmpty() ? null : holds;
            });
        }
    }

    /** The youngest open hold of exactly these locks: the one to give back next. */
    @Nullable
    public Hold youngest(LockGroup targets) {
        return of(targets).findFirst().orElse(null);
    }

    /** An open hold that stands on the grant; null if none does. */
    @Nullable
    public Hold holdOn(HeldNode grant) {
        return on(grant.lockPath())
                .filter(hold -> hold.grants().contains(grant))
                .findFirst()
                .orElse(null);
    }

    public boolean needs(HeldNode grant) {
        return holdOn(grant) != null;
    }

    // ---- Asking.

    public boolean isEmpty() {
        return open.isEmpty();
    }

    /** The number of open holds of exactly these locks. */
    public int count(LockGroup targets) {
        return (int) of(targets).count();
    }

    /** Whether holds that stand cover all these locks. */
    public boolean holds(LockGroup targets) {
        return targets.all().stream()
                .allMatch(target ->
                        on(target.path()).filter(Hold::isStanding).anyMatch(hold -> hold.grantOn(target) != null));
    }

    /** The grant on this lock that the youngest open hold stands on; null if none does. It may be lost. */
    @Nullable
    public HeldNode grantOn(LockSpec target) {
        return on(target.path())
                .map(hold -> hold.grantOn(target))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /**
     * Does nothing unless an open hold is lost.
     *
     * @throws LockLostException if one is
     */
    public void requireNoneLost() {
        all().forEach(Hold::requireNotLost);
    }

    // ---- Re-entry.

    /**
     * The grants that one more hold of these locks can stand on; null if the owner holds nothing on their paths, or a
     * single lock in the mode that it may go on from.
     *
     * @param otherMode what the same path may be held by all the same; null if by nothing
     * @throws LockLostException if one is lost
     * @throws LockRefusedException if the owner would wait for itself: it holds some of several locks, but not all, or
     *     holds a path by another rule
     */
    @Nullable
    public List<HeldNode> grantsToReenter(LockGroup targets, @Nullable LockSpec otherMode) {
        List<HeldNode> found = new ArrayList<>();
        for (LockSpec target : targets.all()) {
            HeldNode grant = grantOn(target);
            if (grant != null) {
                grant.requireNotLost();
                found.add(grant);
            }
        }
        if (found.size() == targets.all().size()) {
            return found;
        }
        if (otherMode == null || grantOn(otherMode) == null) {
            requireNoneHeldOf(targets);
        }
        return null;
    }

    private void requireNoneHeldOf(LockGroup targets) {
        List<LockSpec> held = targets.paths().stream()
                .flatMap(path -> on(path).filter(Hold::isStanding)
                        .flatMap(hold -> hold.grants().stream())
                        .filter(grant -> grant.lockPath().equals(path))
                        .map(HeldNode::target))
                .distinct()
                .toList();
        if (held.isEmpty()) {
            return;
        }
        if (targets.isSingle()) {
            throw new LockRefusedException("this thread holds the lock " + targets.path() + " by the rule "
                    + held.get(0).rule() + " and asks for it by the rule "
                    + targets.all().get(0).rule() + ": it would wait for itself; give back what it holds first, or use"
                    + " one rule on the path (drivers that are equal are one)");
        }
        List<String> names = held.stream()
                .map(target -> targets.all().contains(target) ? target.path() : target.toString())
                .toList();
        throw new LockRefusedException("this thread holds " + names + " and asks for " + targets.path()
                + " together: it could wait for itself, or for a request that waits for it; give back what it holds"
                + " first, or acquire all of them together from the start");
    }

    // ---- Dead owners.

    /** Whether the owner is dead and nothing that it holds stands: there is nothing left to say of it. */
    public boolean isForgettable() {
        return isOrphaned() && all().noneMatch(Hold::isStanding);
    }

    /** The locks that stand on any of these paths, each of them once and never again. On the engine thread. */
    public List<String> notYetWarnedOf(Set<String> paths) {
        return open.keySet().stream()
                .filter(paths::contains)
                .flatMap(this::on)
                .filter(Hold::isStanding)
                .map(Hold::path)
                .filter(warnedOf::add)
                .toList();
    }

    private Stream<Hold> on(String path) {
        Deque<Hold> holds = open.get(path);
        return holds == null ? Stream.empty() : holds.stream();
    }

    private Stream<Hold> of(LockGroup targets) {
        return on(targets.paths().get(0)).filter(hold -> hold.targets().equals(targets));
    }

    private Stream<Hold> all() {
        return open.values().stream().flatMap(Collection::stream);
    }
}
