// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.node.HeldNodes;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.thread.ThreadName;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The open holds of one owner: of a thread, through all locks of a client, or of a lock object that any thread may use.
 * They are found by path and rule. A thread opens and closes its own. Once it is dead, any thread may close them, so
 * the collections are concurrent.
 */
public final class LockData implements HeldNode.Listener {
    private static final Logger log = LoggerFactory.getLogger(LockData.class);

    private final @Nullable Thread owner;
    private final Map<String, HoldStack> open = new ConcurrentHashMap<>(1); // by path; none of them empty
    private @Nullable Set<String> warnedOf; // confined to the engine thread

    public LockData(@Nullable Thread owner) {
        this.owner = owner;
    }

    @Nullable
    public Thread owner() {
        return owner;
    }

    public String ownerName() {
        return owner == null ? "any thread" : ThreadName.of(owner);
    }

    /** Whether the calling thread may give back what is recorded here. */
    public boolean mayClose() {
        return owner == null || owner == Thread.currentThread() || !owner.isAlive();
    }

    boolean isOwnedByCaller() {
        return owner == Thread.currentThread();
    }

    public boolean isOrphaned() {
        return owner != null && !owner.isAlive();
    }

    /** Whether several holds may stand on one grant: only a thread re-enters. */
    boolean sharesGrants() {
        return owner != null;
    }

    // ---- Opening and closing.

    void opened(Hold hold) {
        List<String> paths = hold.group().paths();
        for (int i = 0; i < paths.size(); i++) {
            if (isOwnedByCaller()) {
                openedByOwner(paths.get(i), hold);
            } else {
                openedByAny(paths.get(i), hold);
            }
        }
    }

    /** Only the owner adds a stack or, while it lives, removes one. */
    private void openedByOwner(String path, Hold hold) {
        HoldStack known = open.get(path);
        HoldStack holds = known == null ? new HoldStack() : known;
        holds.push(hold);
        if (known == null) {
            open.put(path, holds);
        }
    }

    private void openedByAny(String path, Hold hold) {
        open.compute(path, (key, known) -> {
            HoldStack holds = known == null ? new HoldStack() : known;
            holds.push(hold);
            return holds;
        });
    }

    /** Takes out a hold that was closed. */
    void takeOut(Hold closed) {
        List<String> paths = closed.group().paths();
        for (int i = 0; i < paths.size(); i++) {
            HoldStack holds = open.get(paths.get(i));
            if (holds != null) {
                holds.remove(closed);
                removeIfEmpty(paths.get(i), holds);
            }
        }
    }

    private void removeIfEmpty(String path, HoldStack holds) {
        if (holds.isEmpty()) {
            open.computeIfPresent(path, (key, now) -> now.isEmpty() ? null : now);
        }
    }

    // ---- Lost holds that nobody has any more.

    /** A hold was lost: the record keeps it only as long as somebody else has it. On the engine thread. */
    void lose(Hold lost) {
        HoldStack.Lost reference = new HoldStack.Lost(lost);
        for (String path : lost.group().paths()) {
            HoldStack holds = open.get(path);
            if (holds != null) {
                holds.lose(lost, reference);
            }
        }
    }

    /**
     * Lost holds whose leases nobody has count as closed, but not before their owner was told of the loss: it may be in
     * the middle of what they protect, and need no lease, since it is going to call release().
     *
     * @throws LockLostException the first time
     */
    private void closeForgotten(String path) {
        HoldStack holds = open.get(path);
        if (holds != null && holds.isFirstAskedOfForgotten()) {
            throw new LockLostException("lost the lock " + path
                    + " while it was held: stop what it protects and give it back. Its lease was never closed and is referenced"
                    + " by nobody, so from now on it counts as closed, and the next acquire is a fresh one");
        }
        HoldStack.Lost first = takeForgotten(path, null);
        for (HoldStack.Lost next = first; next != null; next = takeForgotten(path, null)) {
            giveBackRest(next);
        }
        if (first != null) {
            log.warn(
                    "The lock {} of {} was lost while {} held it. Its lease was never closed and is referenced by nobody,"
                            + " so it counts as closed. Close every lease, lost or not, with try-with-resources or release().",
                    first.lock().path(),
                    first.lock().client().ownerLabel(),
                    owner == null ? "this process" : "thread " + ownerName());
        }
    }

    private HoldStack.@Nullable Lost takeForgotten(String path, @Nullable LockGroup group) {
        HoldStack holds = open.get(path);
        HoldStack.Lost taken = holds == null ? null : holds.takeForgotten(group);
        if (holds != null && taken == null) {
            removeIfEmpty(path, holds);
        }
        return taken;
    }

    /**
     * Gives back the youngest lost hold of exactly these locks whose lease nobody has any more.
     *
     * @throws LockLostException if there is one
     */
    void releaseForgotten(LockGroup group) {
        HoldStack.Lost forgotten = takeForgotten(group.paths().get(0), group);
        if (forgotten != null) {
            giveBackRest(forgotten);
            throw new LockLostException("lost the lock " + group.path()
                    + " while it was held: stop what it protects; it is given back now, so acquire afresh");
        }
    }

    /** What is left of several locks of which some were lost. */
    private void giveBackRest(HoldStack.Lost forgotten) {
        HeldNodes.release(forgotten.standing().stream()
                .filter(grant -> holdOn(grant) == null)
                .toList());
    }

    /** Those grants of a hold that was taken out on which no open hold stands any more. */
    List<HeldNode> notNeededWithout(Hold hold) {
        List<HeldNode> grants = hold.grants();
        if (!sharesGrants()) {
            return grants;
        } else if (grants.size() == 1) {
            return holdOn(grants.get(0)) == null ? grants : List.of();
        }
        return grants.stream().filter(grant -> holdOn(grant) == null).toList();
    }

    /** The open hold of exactly these locks to give back next: the youngest that is not lost, else the youngest. */
    @Nullable
    Hold youngest(LockGroup group) {
        HoldStack holds = open.get(group.paths().get(0));
        return holds == null ? null : holds.youngestOf(group);
    }

    /** An open hold that stands on the grant; null if none does. */
    @Nullable
    Hold holdOn(HeldNode grant) {
        HoldStack holds = open.get(grant.lockPath());
        return holds == null ? null : holds.youngestOn(grant);
    }

    /** Whether another hold than this one stands on the grant. */
    boolean isShared(HeldNode grant, Hold by) {
        HoldStack holds = sharesGrants() ? open.get(grant.lockPath()) : null;
        return holds != null && holds.hasAnotherOn(grant, by);
    }

    /** Tells the holds that stand on it. */
    @Override
    public void onNodeEnded(HeldNode node, LeaseState how) {
        for (Hold hold : on(node.lockPath())) {
            if (hold.standsOn(node)) {
                hold.onNodeEnded(node, how);
            }
        }
    }

    // ---- Asking.

    public boolean isEmpty() {
        return open.isEmpty();
    }

    /** The number of open holds of exactly these locks. */
    int count(LockGroup group) {
        return (int) on(group.paths().get(0)).stream()
                .filter(hold -> hold.group().equals(group))
                .count();
    }

    /** Whether holds that stand cover all these locks. */
    boolean holds(LockGroup group) {
        return group.all().stream()
                .allMatch(spec ->
                        on(spec.path()).stream().anyMatch(hold -> hold.isStanding() && hold.grantOn(spec) != null));
    }

    /** The grant on this lock that the youngest open hold stands on; null if none does. It may be lost. */
    @Nullable
    HeldNode grantOn(LockSpec spec) {
        HoldStack holds = open.get(spec.path());
        Hold hold = holds == null ? null : holds.youngestOn(spec);
        return hold == null ? null : hold.grantOn(spec);
    }

    /**
     * Does nothing unless an open hold is lost.
     *
     * @throws LockLostException if one is
     */
    void requireNoneLost() {
        open.keySet().forEach(this::closeForgotten);
        all().forEach(Hold::requireNotLost);
    }

    // ---- Re-entry.

    /**
     * Opens one more hold of a lock by the owner; null if {@link #grantsToReenter} is. Only the owner opens holds, and
     * it is alive, so no stack that is not empty is removed meanwhile. Whatever is thrown in here, nothing was opened.
     */
    @Nullable
    Hold reenter(Hold.Origin lock, @Nullable LockSpec otherMode) {
        LockGroup group = lock.group();
        if (group.isSingle()) {
            LockSpec spec = group.all().get(0);
            HoldStack holds = open.get(spec.path());
            Hold found = holds == null ? null : holds.youngestOn(spec);
            if (holds != null && found != null && found.grants().size() == 1) {
                found.requireNotLost();
                Hold again = new Hold(lock, found.grants(), this);
                holds.push(again);
                return again;
            }
        }
        List<HeldNode> grants = grantsToReenter(group, otherMode);
        if (grants == null) {
            return null;
        }
        Hold again = new Hold(lock, grants, this);
        try {
            opened(again);
            return again;
        } catch (Throwable t) {
            again.beginClosing();
            throw t;
        }
    }

    /**
     * The grants that one more hold of these locks can stand on; null if the owner holds nothing on their paths, or a
     * single lock in the mode from which it may get the other one.
     *
     * @param otherMode the other mode in which the owner may hold the same path; null if there is none
     * @throws LockLostException if one is lost
     * @throws LockRefusedException if the owner would wait for itself: it holds some of several locks, but not all, or
     *     holds a path by another rule
     */
    @Nullable
    List<HeldNode> grantsToReenter(LockGroup group, @Nullable LockSpec otherMode) {
        List<HeldNode> found = new ArrayList<>();
        for (LockSpec spec : group.all()) {
            HeldNode grant = grantOn(spec);
            if (grant != null) {
                grant.requireNotLost();
                found.add(grant);
            } else {
                closeForgotten(spec.path());
            }
        }
        if (found.size() == group.all().size()) {
            return found;
        }
        if (otherMode == null || grantOn(otherMode) == null) {
            requireNoneHeldOf(group);
        }
        return null;
    }

    /** For a lock that is not re-entrant. */
    void requireNotHeldOnPaths(LockGroup group) {
        if (group.paths().stream().flatMap(path -> on(path).stream()).anyMatch(Hold::isStanding)) {
            throw new LockRefusedException("this thread holds the lock " + group.path()
                    + " and asks for it through a lock that is not re-entrant: it would wait for itself; give back what"
                    + " it holds first");
        }
    }

    private void requireNoneHeldOf(LockGroup group) {
        List<LockSpec> held = group.paths().stream()
                .flatMap(path -> on(path).stream()
                        .filter(Hold::isStanding)
                        .flatMap(hold -> hold.grants().stream())
                        .filter(grant -> grant.lockPath().equals(path))
                        .map(HeldNode::spec))
                .distinct()
                .toList();
        if (held.isEmpty()) {
            return;
        }
        if (group.isSingle()) {
            throw new LockRefusedException("this thread holds the lock " + group.path() + " by the rule "
                    + held.get(0).rule() + " and asks for it by the rule "
                    + group.all().get(0).rule() + ": it would wait for itself; give back what it holds first, or use"
                    + " one rule on the path (drivers that are equal are one)");
        }
        List<String> names = held.stream()
                .map(spec -> group.all().contains(spec) ? spec.path() : spec.toString())
                .toList();
        throw new LockRefusedException("this thread holds " + names + " and asks for " + group.path()
                + " together: it could wait for itself, or for a request that waits for it; give back what it holds"
                + " first, or acquire all of them together from the start");
    }

    // ---- Dead owners.

    /** Whether the owner is dead and nothing that it holds stands, so that the record is of no more use. */
    boolean isForgettable() {
        return isOrphaned() && all().noneMatch(Hold::isStanding);
    }

    /** The locks that stand on any of these paths, each of them once and never again. On the engine thread. */
    List<String> notYetWarnedOf(Set<String> paths) {
        Set<String> warned = warnedOf == null ? new HashSet<>() : warnedOf;
        warnedOf = warned;
        return open.keySet().stream()
                .filter(paths::contains)
                .flatMap(path -> on(path).stream())
                .filter(Hold::isStanding)
                .map(Hold::path)
                .filter(warned::add)
                .toList();
    }

    private List<Hold> on(String path) {
        HoldStack holds = open.get(path);
        return holds == null ? List.of() : holds.all();
    }

    private Stream<Hold> all() {
        return open.values().stream().flatMap(holds -> holds.all().stream());
    }
}
