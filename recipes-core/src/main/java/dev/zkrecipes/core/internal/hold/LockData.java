// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.thread.EngineThreads;
import java.time.Duration;
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
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The open holds of one owner: of a thread, through all locks of a client, or of a lock object that any thread may use,
 * or of nobody. They are found by path and rule. A thread opens and closes its own; once it is dead, or if it said so
 * of a hold, any thread may close them. Whoever looks meanwhile misses nothing that was open before. Thread-safe.
 *
 * <p>A hold that is closed counts no more; to take it out only frees memory. A lost one counts until it is closed, so
 * that its owner cannot acquire the lock again and go on as if nothing had happened. But not for ever: see
 * {@link #FORGOTTEN}.
 */
public final class LockData implements Held.Listener {
    private static final Logger log = LoggerFactory.getLogger(LockData.class);

    /** How long after its loss a hold that its owner knows to be lost, and that nobody has closed, counts as closed. */
    public static final Duration FORGOTTEN = Duration.ofMinutes(5);

    final @Nullable Thread owner;
    private final boolean isOfNobody;
    private final LongSupplier clock;
    private final Consumer<LockData> useless; // told when it is of no more use
    private final Map<String, Deque<Hold>> open = new ConcurrentHashMap<>(1); // by path, the youngest first
    private volatile boolean hasOtherThreads; // which may close a hold while the owner re-enters
    private @Nullable Set<String> warnedOf; // confined to the engine thread

    private LockData(@Nullable Thread owner, boolean isOfNobody, LongSupplier clock, Consumer<LockData> useless) {
        this.owner = owner;
        this.isOfNobody = isOfNobody;
        this.clock = clock;
        this.useless = useless;
    }

    static LockData ofThread(Thread owner, LongSupplier clock, Consumer<LockData> useless) {
        return new LockData(owner, false, clock, useless);
    }

    static LockData ofInstance(LongSupplier clock) {
        return new LockData(null, false, clock, data -> {});
    }

    /**
     * Of leases that belong to no thread: none re-enters by them, and a lost one keeps nobody from acquiring afresh.
     */
    public static LockData ofNobody() {
        return new LockData(null, true, () -> 0, data -> {});
    }

    public String ownerName() {
        return owner == null ? "any thread" : EngineThreads.nameOf(owner);
    }

    public boolean mayClose() {
        return owner == null || owner == Thread.currentThread() || !owner.isAlive();
    }

    public boolean isOrphaned() {
        return owner != null && !owner.isAlive();
    }

    /** Whether several holds may stand on one grant: only a thread re-enters. */
    boolean sharesGrants() {
        return owner != null;
    }

    // ---- Opening and closing.

    /** Returns who is to hear of a loss of what the hold stands on. */
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

    void takeOut(Hold over) {
        for (String path : over.group().paths()) {
            open.computeIfPresent(path, (same, holds) -> without(over, holds));
        }
        if (open.isEmpty() && mayClose()) { // a living owner may be just opening another one
            useless.accept(this);
        }
    }

    /** Null if none is left. */
    private static @Nullable Deque<Hold> without(Hold over, Deque<Hold> holds) {
        Iterator<Hold> each = holds.iterator();
        while (each.hasNext()) {
            if (each.next() == over) {
                each.remove();
                break;
            }
        }
        return holds.isEmpty() ? null : holds;
    }

    void expectOtherThreads() {
        hasOtherThreads = true;
    }

    // ---- Lost holds.

    /** A hold was lost, again if several of its nodes are. */
    void lose(Hold lost) {
        if (isOfNobody) {
            takeOut(lost); // only by the lease itself can it be closed
            return;
        }
        lost.noteLoss(clock.getAsLong());
        if (isForgettable()) {
            useless.accept(this);
        }
    }

    /**
     * Throws if a hold on the path is lost: the owner may be in the middle of what the lock protects. Of those that it
     * knows of and has forgotten nobody throws: they are closed now.
     */
    private void requireNoneLost(String path) {
        List<Hold> lost = on(path).filter(Hold::isLost).toList();
        if (lost.isEmpty()) {
            return;
        }
        long before = clock.getAsLong() - FORGOTTEN.toNanos();
        if (!lost.stream().allMatch(hold -> hold.isForgottenSince(before))) {
            lost.forEach(Hold::noteTold);
            lost.get(0).requireNotLost();
        }
        log.warn(
                "The lock {} of {} was lost while {} held it, and its lease was not closed for {} minutes, so it counts as"
                        + " closed. Close every lease, lost or not, with try-with-resources or release().",
                lost.get(0).path(),
                lost.get(0).lock().ownerLabel(),
                owner == null ? "this process" : "thread " + ownerName(),
                FORGOTTEN.toMinutes());
        lost.forEach(hold -> hold.beginClosing(false));
    }

    /** Throws if any hold is lost, but for those that were forgotten, which are closed. */
    public void requireNoneLost() {
        open.keySet().forEach(this::requireNoneLost);
    }

    // ---- Finding.

    private Stream<Hold> on(String path) {
        Deque<Hold> holds = open.get(path);
        return holds == null ? Stream.empty() : holds.stream().filter(hold -> !hold.isClosed());
    }

    private Stream<Hold> all() {
        return open.keySet().stream().flatMap(this::on);
    }

    /** The part of the grant of a hold that was closed on which no open hold stands any more. */
    Grant unneededWithout(Hold hold) {
        Grant grant = hold.grant();
        return sharesGrants() ? grant.only(part -> holdOn(part) == null) : grant;
    }

    /** The youngest open hold on a path that is as wanted; null if none is. */
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

    /** The open hold of exactly these locks to give back next: the youngest that is not lost, else the youngest. */
    @Nullable
    public Hold youngest(LockGroup group) {
        String path = group.paths().get(0);
        Hold standing = youngest(path, hold -> hold.group().equals(group) && !hold.isLost());
        return standing != null ? standing : youngest(path, hold -> hold.group().equals(group));
    }

    /** The youngest open hold that stands on the part of a grant; null if none does. */
    @Nullable
    Hold holdOn(Held part) {
        return youngest(part.spec().path(), hold -> hold.standsOn(part));
    }

    /** The youngest open hold of this lock; null if there is none. It may be lost. */
    private @Nullable Hold holdOf(LockSpec spec) {
        return youngest(spec.path(), hold -> hold.partOn(spec) != null);
    }

    /** What the youngest open hold of this lock stands on there; null if there is none. It may be lost. */
    @Nullable
    public Held partOn(LockSpec spec) {
        Hold hold = holdOf(spec);
        return hold == null ? null : hold.partOn(spec);
    }

    @Override
    public void onLost(Held part) {
        on(part.spec().path()).filter(hold -> hold.standsOn(part)).forEach(hold -> hold.onLost(part));
    }

    // ---- Asking.

    public int count(LockGroup group) {
        return (int) on(group.paths().get(0))
                .filter(hold -> hold.group().equals(group))
                .count();
    }

    public boolean holds(LockGroup group) {
        return group.all().stream()
                .allMatch(spec ->
                        youngest(spec.path(), hold -> hold.isStanding() && hold.partOn(spec) != null) != null);
    }

    // ---- Re-entry.

    /**
     * Opens one more hold of a lock by the owner, on the {@link #grantToReenter}; null if another thread has closed
     * the one that it would stand beside. Looked at afterwards: who closes that one from then on finds the new one.
     */
    @Nullable
    public Hold reenter(Hold.Origin lock, Grant grant) {
        Hold again = new Hold(lock, grant, this);
        opened(again);
        if (hasOtherThreads && !grant.only(part -> !isHeldBeside(again, part)).isEmpty()) {
            again.beginClosing(false);
            return null;
        }
        return again;
    }

    private boolean isHeldBeside(Hold hold, Held part) {
        return youngest(part.spec().path(), other -> other != hold && other.standsOn(part)) != null;
    }

    /**
     * What one more hold of these locks can stand on; null if the owner holds nothing on their paths, or a single lock
     * in the {@code otherMode}. Throws if a part is lost, or if the owner would wait for itself: it holds some of
     * several locks, or holds a path by another rule.
     */
    @Nullable
    public Grant grantToReenter(LockGroup group, @Nullable LockSpec otherMode) {
        if (group.isSingle()) {
            Hold same = holdNotLostOf(group.all().get(0));
            if (same != null && same.grant().isSingle()) {
                return same.grant();
            }
        }
        List<Held> found = new ArrayList<>();
        for (LockSpec spec : group.all()) {
            Hold hold = holdNotLostOf(spec);
            if (hold != null) {
                found.add(Objects.requireNonNull(hold.partOn(spec)));
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

    /** Null if there is none; throws if a hold on the path is lost. */
    private @Nullable Hold holdNotLostOf(LockSpec spec) {
        Hold hold = holdOf(spec);
        if (hold == null || hold.isLost()) {
            requireNoneLost(spec.path());
            hold = holdOf(spec);
        }
        return hold;
    }

    /** Refuses a request for a lock that is not re-entrant if the thread would wait for itself. */
    public void requireNotHeldOnPaths(LockGroup group) {
        if (group.paths().stream().flatMap(this::on).anyMatch(Hold::isStanding)) {
            throw new LockRefusedException("this thread holds the lock " + group.path()
                    + " and asks for it through a lock that is not re-entrant: it would wait for itself; give back what"
                    + " it holds first");
        }
    }

    private void requireNoneHeldOf(LockGroup group) {
        List<LockSpec> held = group.paths().stream()
                .flatMap(path -> on(path).filter(Hold::isStanding)
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

    /** Whether the owner is dead and nothing that it holds stands, so that the record is of no more use. */
    boolean isForgettable() {
        return isOrphaned() && all().noneMatch(Hold::isStanding);
    }

    /** The locks that stand on any of these paths, each of them once and never again. On the engine thread. */
    public List<String> notYetWarnedOf(Set<String> paths) {
        Set<String> warned = warnedOf == null ? new HashSet<>() : warnedOf;
        warnedOf = warned;
        return open.keySet().stream()
                .filter(paths::contains)
                .flatMap(this::on)
                .filter(Hold::isStanding)
                .map(Hold::path)
                .filter(warned::add)
                .toList();
    }
}
