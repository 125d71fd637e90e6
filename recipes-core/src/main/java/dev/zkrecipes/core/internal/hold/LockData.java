// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.thread.EngineThreads;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Records the open holds of one owner. The owner is a thread, for all locks of one client; or a lock object that any
 * thread may use; or nobody, for the leases of asynchronous requests. Holds are looked up by path and rule, not by lock
 * object, so an application may create a new lock object for each call.
 *
 * <p>A thread opens and closes its own holds. Any thread may close the holds of a dead thread, and any hold whose owner
 * has allowed that. Therefore the collections are concurrent: an iteration that runs while other threads open and close
 * holds sees every hold that is open throughout. Thread-safe.
 *
 * <p>A hold no longer counts from the moment it is closed. Removing it from the record only frees memory, so a thread
 * may die between the two steps. A lost hold counts until it is closed. Otherwise its owner could acquire the lock
 * again, and continue as if nothing had happened. It does not count forever, though, see
 * {@link UnclosedLosses#FORGOTTEN}.
 */
public final class LockData implements Held.Listener {
    private static final Logger log = LoggerFactory.getLogger(LockData.class);
    private static final AtomicReferenceFieldUpdater<LockData, @Nullable UnclosedLosses> LOST =
            AtomicReferenceFieldUpdater.newUpdater(LockData.class, UnclosedLosses.class, "lost");

    final @Nullable Thread owner; // null if no thread owns the holds
    private final boolean isOfNobody;
    private final LongSupplier clock; // for losses
    private final Consumer<LockData> useless; // called when the record is no longer needed
    private final Map<String, Deque<Hold>> open = new ConcurrentHashMap<>(1); // by path, the youngest first
    private volatile @Nullable UnclosedLosses lost; // null until a hold is lost
    private volatile boolean hasOtherThreads; // whether they may close a hold while its owner re-enters
    private @Nullable Set<String> warnedOf; // locks that users were warned about; confined to the engine thread

    private LockData(@Nullable Thread owner, boolean isOfNobody, LongSupplier clock, Consumer<LockData> useless) {
        this.owner = owner;
        this.isOfNobody = isOfNobody;
        this.clock = clock;
        this.useless = useless;
    }

    static LockData ofThread(Thread owner, LongSupplier clock, Consumer<LockData> useless) {
        return new LockData(owner, false, clock, useless);
    }

    /**
     * Returns the record of a lock object. The record exists as long as that object, so nobody has to be notified when
     * it is empty.
     */
    static LockData ofInstance(LongSupplier clock) {
        return new LockData(null, false, clock, data -> {});
    }

    /**
     * Returns the record of leases that belong to no thread. No thread re-enters through them. A lost one does not
     * prevent a new acquire, because it is not known which of the later requests come from its user.
     */
    public static LockData ofNobody() {
        return new LockData(null, true, () -> 0, data -> {});
    }

    public String ownerName() {
        return owner == null ? "any thread" : EngineThreads.nameOf(owner);
    }

    /** Whether the calling thread may close the holds. The holds of a living thread belong to it alone. */
    public boolean mayClose() {
        return owner == null || owner == Thread.currentThread() || !owner.isAlive();
    }

    /** Whether the holds belong to the calling thread. */
    public boolean isOfCaller() {
        return owner == Thread.currentThread();
    }

    /** Whether the holds belong to a dead thread. */
    public boolean isOrphaned() {
        return owner != null && !owner.isAlive();
    }

    /**
     * Whether one grant may back several holds. That is so for the holds of a thread, because only a thread re-enters.
     */
    boolean sharesGrants() {
        return owner != null;
    }

    // ---- Opening and closing.

    /**
     * Records a new hold under each of its paths. Returns the listener for a loss of its grant: this record if the same
     * grant may come to back other holds, otherwise the hold itself.
     */
    @CanIgnoreReturnValue
    Held.Listener opened(Hold hold) {
        for (String path : hold.group().paths()) {
            open.compute(path, (same, others) -> {
                Deque<Hold> holds = others == null ? new ConcurrentLinkedDeque<>() : others;
                holds.addFirst(hold);
                return holds;
            });
        }
        return sharesGrants() ? this : hold;
    }

    /** Removes a hold that has ended. A record without holds is no longer needed. */
    void takeOut(Hold over) {
        for (String path : over.group().paths()) {
            open.computeIfPresent(path, (same, holds) -> without(over, holds));
        }
        UnclosedLosses noted = lost;
        if (noted != null) {
            noted.remove(over);
        }
        if (open.isEmpty() && mayClose()) { // no other thread may drop it: the owner may be opening a hold
            useless.accept(this);
        }
    }

    /** Removes the hold from the holds of one path. Returns null if none is left, so that the path is removed, too. */
    private static @Nullable Deque<Hold> without(Hold over, Deque<Hold> holds) {
        // This does not call remove(over), which allocates for each hold that it passes: a gigabyte for ten thousand
        // leases.
        Iterator<Hold> each = holds.iterator();
        while (each.hasNext()) {
            if (each.next() == over) {
                each.remove();
                break;
            }
        }
        return holds.isEmpty() ? null : holds;
    }

    /**
     * Records that another thread may close a hold of a living owner from now on, so that {@link #reenter} checks for
     * that.
     */
    void expectOtherThreads() {
        hasOtherThreads = true;
    }

    // ---- Lost holds.

    /** Records that a hold was lost. Called again for each further node of the hold that is lost. */
    void lose(Hold hold) {
        if (isOfNobody) {
            takeOut(hold); // nobody looks it up here: only its lease can close it
            return;
        }
        lost().note(hold, false);
        if (isForgettable()) {
            useless.accept(this);
        }
    }

    /**
     * Throws if a hold's part on this path is lost, because the owner may be in the middle of what the lock protects.
     * If all lost holds on the path are {@linkplain UnclosedLosses#FORGOTTEN forgotten}, closes them instead, with a
     * warning.
     */
    private void requireNoneLost(String path) {
        List<Hold> found =
                on(path).filter(hold -> hold.grant().lostOn(path) != null).toList();
        if (found.isEmpty()) {
            return;
        }
        if (lost().areForgotten(found)) {
            closeForgotten(found);
            return;
        }
        found.forEach(hold -> lost().note(hold, true));
        Held part = found.get(0).grant().lostOn(path);
        if (part != null) { // always, unless a foreign lock no longer reports the loss
            part.requireNotLost();
        }
    }

    /**
     * Closes the holds that were lost long ago. This is for an owner that no acquire notifies of a loss: a dropped
     * lease would otherwise keep its dead session in memory as long as the record exists.
     */
    public void closeLongLost() {
        UnclosedLosses noted = lost;
        if (noted != null) {
            closeForgotten(noted.longLost());
        }
    }

    /** Returns the record of the lost holds. Several threads may ask for the first one at once. */
    private UnclosedLosses lost() {
        UnclosedLosses noted = lost;
        if (noted == null) {
            LOST.compareAndSet(this, null, new UnclosedLosses(clock));
            noted = Objects.requireNonNull(lost);
        }
        return noted;
    }

    /** Closes lost holds in place of their owner, with one warning. */
    private void closeForgotten(List<Hold> forgotten) {
        if (forgotten.isEmpty()) {
            return;
        }
        Hold any = forgotten.get(0);
        log.warn(
                "The lock {} of {} was lost while {} held it, and its lease was not closed for {} minutes, so it"
                        + " counts as closed. Close every lease, lost or not, with try-with-resources or release().",
                any.path(),
                any.lock().ownerLabel(),
                owner == null ? "this process" : "thread " + ownerName(),
                UnclosedLosses.FORGOTTEN.toMinutes());
        for (Hold hold : forgotten) {
            hold.beginClosing(false);
            hold.lock().releaseByOwner(hold);
        }
    }

    /**
     * Throws if any hold is lost. A hold that its owner has forgotten, see {@link UnclosedLosses#FORGOTTEN}, is closed
     * instead.
     */
    public void requireNoneLost() {
        open.keySet().forEach(this::requireNoneLost);
    }

    // ---- Finding.

    /** Returns the open holds on a path, the youngest first. */
    private Stream<Hold> on(String path) {
        Deque<Hold> holds = open.get(path);
        return holds == null ? Stream.empty() : holds.stream().filter(hold -> !hold.isClosed());
    }

    /**
     * Returns the holds whose part on the path is still held. They have a node in its queue, even if another part is
     * lost.
     */
    private Stream<Hold> standingOn(String path) {
        return on(path).filter(hold -> hold.grant().standsOn(path));
    }

    private Stream<Hold> all() {
        return open.keySet().stream().flatMap(this::on);
    }

    /** Returns the parts of a closed hold's grant that no longer back any open hold, and so must be released. */
    Grant unneededWithout(Hold hold) {
        Grant grant = hold.grant();
        return sharesGrants() ? grant.only(part -> holdOn(part) == null) : grant;
    }

    /** Returns the youngest matching open hold on a path; null if there is none. */
    private @Nullable Hold youngest(String path, Predicate<Hold> wanted) {
        Deque<Hold> holds = open.get(path);
        if (holds != null) {
            for (Hold hold : holds) {
                if (!hold.isClosed() && wanted.test(hold)) {
                    return hold;
                }
            }
        }
        return null;
    }

    /**
     * Returns the hold that {@code release()} closes: the youngest open hold of exactly these locks that is not lost.
     * If all are lost, returns the youngest; if there is none, null.
     */
    @Nullable
    public Hold youngest(LockGroup group) {
        String path = group.paths().get(0);
        Hold standing = youngest(path, hold -> hold.group().equals(group) && !hold.isLost());
        return standing != null ? standing : youngest(path, hold -> hold.group().equals(group));
    }

    /** Returns the youngest open hold that this part backs; null if there is none. */
    private @Nullable Hold holdOn(Held part) {
        return youngest(part.spec().path(), hold -> hold.grant().contains(part));
    }

    /** Returns the youngest open hold with a part of this lock; null if there is none. The hold may be lost. */
    private @Nullable Hold holdOf(LockSpec spec) {
        return youngest(spec.path(), hold -> hold.grant().on(spec) != null);
    }

    /** Returns the part of this lock in the youngest open hold that has one; null if none has. The part may be lost. */
    @Nullable
    public Held partOn(LockSpec spec) {
        Hold hold = holdOf(spec);
        return hold == null ? null : hold.grant().on(spec);
    }

    /** Notifies every open hold that the lost part backs. */
    @Override
    public void onLost(Held part) {
        on(part.spec().path()).filter(hold -> hold.grant().contains(part)).forEach(hold -> hold.onLost(part));
    }

    // ---- Asking.

    /**
     * Returns the number of open holds of exactly these locks, lost or not. Each of them is recorded under all paths of
     * the group, so the first path suffices.
     */
    public int count(LockGroup group) {
        return (int) on(group.paths().get(0))
                .filter(hold -> hold.group().equals(group))
                .count();
    }

    /** Whether the owner holds each of these locks, by itself or together with others. */
    public boolean holds(LockGroup group) {
        return group.all().stream()
                .allMatch(spec -> youngest(
                                spec.path(),
                                hold -> hold.isStanding() && hold.grant().on(spec) != null)
                        != null);
    }

    /** Returns the paths of held nodes that no thread but the owner may release, at most {@code most} of them. */
    public List<String> ownNodes(int most) {
        return all().filter(hold -> hold.isStanding() && !hold.isClosedByAnyThread())
                .flatMap(hold -> hold.grant().nodePaths())
                .distinct()
                .limit(most)
                .toList();
    }

    // ---- Re-entry.

    /**
     * Opens one more hold of a lock for its owner, on the grant that {@link #grantToReenter} has returned. Returns null
     * if another thread has closed the hold with which the new one would share the grant, because that grant is being
     * released. The record is read after the new hold was added to it. So a thread that closes the other hold later
     * finds the new one, and does not release the grant.
     */
    @Nullable
    public Hold reenter(Hold.Origin lock, Grant grant) {
        Hold again = new Hold(lock, grant, this);
        try {
            opened(again);
            if (hasOtherThreads
                    && !grant.only(part -> !isHeldBeside(again, part)).isEmpty()) {
                again.beginClosing(false);
                return null;
            }
            return again;
        } catch (Throwable t) {
            again.beginClosing(false); // the caller has no lease, and nobody else would remove the hold
            throw t;
        }
    }

    /** Whether the part backs an open hold other than this one. */
    private boolean isHeldBeside(Hold hold, Held part) {
        return youngest(
                        part.spec().path(),
                        other -> other != hold && other.grant().contains(part))
                != null;
    }

    /**
     * Returns the grant that can back one more hold of these locks. Returns null if the owner holds nothing on their
     * paths, or if it holds a single lock in {@code otherMode}: then the lock itself decides whether to grant this mode
     * as well. Throws if a part is lost. Also throws if the owner would wait for itself, because it holds some of
     * several locks but not all, or holds a path under another rule.
     */
    @Nullable
    public Grant grantToReenter(LockGroup group, @Nullable LockSpec otherMode) {
        if (group.isSingle()) {
            Hold same = holdOf(group.all().get(0));
            if (same != null && same.grant().isSingle() && !same.isLost()) {
                return same.grant();
            }
        }
        group.all().forEach(this::requireNoneLost); // first, because this closes forgotten holds
        List<Held> found = new ArrayList<>();
        for (LockSpec spec : group.all()) {
            Held part = partOn(spec);
            if (part != null) {
                found.add(part);
            }
        }
        if (found.size() == group.all().size()) {
            return Grant.of(found);
        }
        if (otherMode == null || partOn(otherMode) == null) {
            requireNoneHeldOf(group);
        }
        return null;
    }

    /**
     * Throws if the owner has lost this lock. A part that is still held may be re-entered although another part is
     * lost.
     */
    private void requireNoneLost(LockSpec spec) {
        Held part = partOn(spec);
        if (part == null || part.isLost()) {
            requireNoneLost(spec.path());
        }
    }

    /**
     * Refuses a request for a lock that is not re-entrant if the calling thread holds a path: it would wait for
     * itself.
     */
    public void requireNotHeldOnPaths(LockGroup group) {
        if (group.paths().stream().anyMatch(path -> standingOn(path).findAny().isPresent())) {
            throw new LockRefusedException("this thread holds the lock " + group.path()
                    + " and asks for it through a lock that is not re-entrant: it would wait for itself; give back what"
                    + " it holds first");
        }
    }

    /**
     * Refuses a request if the owner holds any of its paths, even if both rules would grant it. Between the two nodes
     * there may be another request, which waits for the first and blocks the second.
     */
    private void requireNoneHeldOf(LockGroup group) {
        List<LockSpec> held = group.paths().stream()
                .flatMap(path -> standingOn(path)
                        .flatMap(hold -> hold.grant().specs())
                        .filter(spec -> spec.path().equals(path)))
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

    /** Whether the owner is dead and holds nothing any more, so that the record can be dropped. */
    boolean isForgettable() {
        return isOrphaned() && all().allMatch(hold -> hold.grant().isKnownAsLost());
    }

    /**
     * Returns the held locks on these paths that users are to be warned about. Each lock is returned only once. Call
     * on one thread at a time.
     */
    public List<String> notYetWarnedOf(Set<String> paths) {
        Set<String> warned = warnedOf == null ? new HashSet<>() : warnedOf;
        warnedOf = warned;
        return open.keySet().stream()
                .filter(paths::contains)
                .flatMap(this::on)
                .filter(hold -> !hold.grant().isKnownAsLost())
                .map(Hold::path)
                .filter(warned::add)
                .toList();
    }
}
