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
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The record of the open holds of one owner. The owner is a thread, for all locks of one client; or a lock object
 * that any thread may use; or nobody, for the leases of asynchronous requests. Holds are found by path and rule and
 * not by lock object, so an application may make a new lock object for each call.
 *
 * <p>A thread opens and closes its own holds. Once it is dead, any thread may close them, and so may any thread close
 * a hold of which its owner has said so. Therefore the collections are concurrent: a thread that iterates while
 * others open and close holds sees every hold that was open before and still is. Thread-safe.
 *
 * <p>A hold counts no longer from the moment it is closed. Taking it out of the record only frees memory, so a thread
 * may die between the two. A lost hold counts until it is closed. Otherwise its owner could acquire the lock again,
 * and go on as if nothing had happened. It does not count for ever, though, see {@link LostHolds#FORGOTTEN}.
 */
public final class LockData implements Held.Listener {
    private static final Logger log = LoggerFactory.getLogger(LockData.class);

    final @Nullable Thread owner; // null if no thread owns the holds
    private final boolean isOfNobody;
    private final Consumer<LockData> useless; // told when the record is not needed any more
    private final Map<String, Deque<Hold>> open = new ConcurrentHashMap<>(1); // by path, the youngest first
    private final LostHolds lost;
    private volatile boolean hasOtherThreads; // whether they may close a hold while the owner re-enters
    private @Nullable Set<String> warnedOf; // locks of which users were warned; confined to the engine thread

    private LockData(@Nullable Thread owner, boolean isOfNobody, LongSupplier clock, Consumer<LockData> useless) {
        this.owner = owner;
        this.isOfNobody = isOfNobody;
        this.lost = new LostHolds(clock);
        this.useless = useless;
    }

    static LockData ofThread(Thread owner, LongSupplier clock, Consumer<LockData> useless) {
        return new LockData(owner, false, clock, useless);
    }

    /** The record of a lock object. It lives as long as that object, so nobody is told when it is empty. */
    static LockData ofInstance(LongSupplier clock) {
        return new LockData(null, false, clock, data -> {});
    }

    /**
     * The record of leases that belong to no thread. No thread re-enters by them, and a lost one keeps nobody from
     * acquiring afresh, because nobody knows which of the later requests are made by its user.
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

    /** Whether the holds belonged to a thread that is dead. */
    public boolean isOrphaned() {
        return owner != null && !owner.isAlive();
    }

    /** Whether several holds may stand on one grant: those of a thread may, because only a thread re-enters. */
    boolean sharesGrants() {
        return owner != null;
    }

    // ---- Opening and closing.

    /**
     * Records a new hold under each of its paths. Returns the listener for a loss of its grant: this record, where
     * other holds may come to stand on the same grant, otherwise the hold itself.
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

    /** Takes out a hold that is over. A record without holds is not needed any more. */
    void takeOut(Hold over) {
        for (String path : over.group().paths()) {
            open.computeIfPresent(path, (same, holds) -> without(over, holds));
        }
        lost.remove(over);
        if (open.isEmpty() && mayClose()) { // another thread must not: the owner may be opening a hold in it
            useless.accept(this);
        }
    }

    /** The holds of one path without that one; null if none is left, so that the path is taken out, too. */
    private static @Nullable Deque<Hold> without(Hold over, Deque<Hold> holds) {
        // Not by remove(over), which allocates for each hold that it passes: a gigabyte for ten thousand leases.
        Iterator<Hold> each = holds.iterator();
        while (each.hasNext()) {
            if (each.next() == over) {
                each.remove();
                break;
            }
        }
        return holds.isEmpty() ? null : holds;
    }

    /** From now on another thread may close a hold of a living owner, so {@link #reenter} has to look again. */
    void expectOtherThreads() {
        hasOtherThreads = true;
    }

    // ---- Lost holds.

    /** Notes that a hold was lost. Called once more for each further node of the hold that is lost. */
    void lose(Hold hold) {
        if (isOfNobody) {
            takeOut(hold); // nobody looks for it here: only its lease can close it
            return;
        }
        lost.note(hold, false);
        if (isForgettable()) {
            useless.accept(this);
        }
    }

    /**
     * Throws if the part of a hold on this path is lost, because the owner may be in the middle of what the lock
     * protects. If all lost holds are {@linkplain LostHolds#FORGOTTEN forgotten}, they are closed now instead, with a
     * warning.
     */
    private void requireNoneLost(String path) {
        List<Hold> found =
                on(path).filter(hold -> hold.grant().lostOn(path) != null).toList();
        if (found.isEmpty()) {
            return;
        }
        if (lost.areForgotten(found)) {
            closeForgotten(found);
            return;
        }
        found.forEach(hold -> lost.note(hold, true));
        Held part = found.get(0).grant().lostOn(path);
        if (part != null) { // it is, unless a foreign lock takes back what it has said
            part.requireNotLost();
        }
    }

    /**
     * Closes the holds that were lost long ago. This is for an owner that no acquire tells of a loss: a dropped lease
     * would otherwise keep its dead session in memory as long as the record.
     */
    public void closeLongLost() {
        closeForgotten(lost.longLost());
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
                LostHolds.FORGOTTEN.toMinutes());
        forgotten.forEach(hold -> hold.beginClosing(false));
    }

    /**
     * Throws if any hold is lost. A hold that its owner has forgotten, see {@link LostHolds#FORGOTTEN}, is closed
     * instead.
     */
    public void requireNoneLost() {
        open.keySet().forEach(this::requireNoneLost);
    }

    // ---- Finding.

    /** The open holds on a path, the youngest first. */
    private Stream<Hold> on(String path) {
        Deque<Hold> holds = open.get(path);
        return holds == null ? Stream.empty() : holds.stream().filter(hold -> !hold.isClosed());
    }

    /** Those whose part on the path stands: they have a node in its queue, even if another part is lost. */
    private Stream<Hold> standingOn(String path) {
        return on(path).filter(hold -> hold.grant().standsOn(path));
    }

    private Stream<Hold> all() {
        return open.keySet().stream().flatMap(this::on);
    }

    /** The parts of a closed hold's grant on which no open hold stands any more, so that they are to be released. */
    Grant unneededWithout(Hold hold) {
        Grant grant = hold.grant();
        return sharesGrants() ? grant.only(part -> holdOn(part) == null) : grant;
    }

    /** The youngest open hold on a path that matches; null if none does. */
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
     * The hold that {@code release()} closes: the youngest open hold of exactly these locks that is not lost. If all
     * are lost, it is the youngest; if there is none, null.
     */
    @Nullable
    public Hold youngest(LockGroup group) {
        String path = group.paths().get(0);
        Hold standing = youngest(path, hold -> hold.group().equals(group) && !hold.isLost());
        return standing != null ? standing : youngest(path, hold -> hold.group().equals(group));
    }

    /** The youngest open hold that stands on this part of a grant; null if none does. */
    private @Nullable Hold holdOn(Held part) {
        return youngest(part.spec().path(), hold -> hold.grant().contains(part));
    }

    /** The youngest open hold with a part on this lock; null if there is none. It may be lost. */
    private @Nullable Hold holdOf(LockSpec spec) {
        return youngest(spec.path(), hold -> hold.grant().on(spec) != null);
    }

    /** The part on this lock of the youngest open hold that has one; null if none has. It may be lost. */
    @Nullable
    public Held partOn(LockSpec spec) {
        Hold hold = holdOf(spec);
        return hold == null ? null : hold.grant().on(spec);
    }

    /** Tells every open hold that stands on the lost part. */
    @Override
    public void onLost(Held part) {
        on(part.spec().path()).filter(hold -> hold.grant().contains(part)).forEach(hold -> hold.onLost(part));
    }

    // ---- Asking.

    /**
     * The number of open holds of exactly these locks, lost or not. Each is recorded under all paths of the group.
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

    /**
     * The paths of nodes that stand for as long as the owner wants, not more than {@code most}: no other thread may
     * release them.
     */
    public List<String> ownNodes(int most) {
        return all().filter(hold -> hold.isStanding() && !hold.isClosedByAnyThread())
                .flatMap(hold -> hold.grant().nodePaths())
                .distinct()
                .limit(most)
                .toList();
    }

    // ---- Re-entry.

    /**
     * Opens one more hold of a lock for its owner, on what {@link #grantToReenter} has returned. Returns null if
     * another thread has closed the hold with which the new one would share its grant: that grant is being released.
     * The record is read after the new hold is in it, so a thread that closes the other hold later finds the new one
     * there, and leaves the grant alone.
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
            again.beginClosing(false); // the caller has no lease, and nobody else would take the hold out
            throw t;
        }
    }

    /** Whether an open hold other than this one stands on the part. */
    private boolean isHeldBeside(Hold hold, Held part) {
        return youngest(
                        part.spec().path(),
                        other -> other != hold && other.grant().contains(part))
                != null;
    }

    /**
     * What one more hold of these locks can stand on. Null if the owner holds nothing on their paths, or holds a
     * single lock in the {@code otherMode}, from which the lock itself decides whether this mode follows. Throws if a
     * part is lost. Also throws if the owner would wait for itself, because it holds some of several locks but not
     * all, or holds a path under another rule.
     */
    @Nullable
    public Grant grantToReenter(LockGroup group, @Nullable LockSpec otherMode) {
        if (group.isSingle()) {
            Hold same = holdOf(group.all().get(0));
            if (same != null && same.grant().isSingle() && !same.isLost()) {
                return same.grant();
            }
        }
        group.all().forEach(this::requireNoneLost); // before anything is collected: what was forgotten is closed by it
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

    /** Throws if what is held of this lock is lost. A part that stands may be taken although another one is lost. */
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
     * Refuses a request on paths of which the owner holds any, even where both rules would grant. Between the two
     * nodes there may be another request, which waits for the first and blocks the second.
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
     * The held locks on these paths of which users are to be warned. Each lock is returned once, and then never
     * again. On the engine thread.
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
