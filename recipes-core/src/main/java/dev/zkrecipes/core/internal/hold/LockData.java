// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.thread.EngineThreads;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The open holds of one owner: of a thread, through all locks of a client, or of a lock object that any thread may use.
 * They are found by path and rule. A thread opens and closes its own; once it is dead, or if it said so of a hold, any
 * thread may close them. Whoever looks meanwhile misses nothing that was open before. Thread-safe.
 *
 * <p>A hold that is closed counts no more; to take it out only frees memory. A {@link Loose} one is kept only weakly: a
 * lost one counts no more once nobody has its lease, as no one else could ever close it.
 */
public final class LockData implements Held.Listener {
    private static final Logger log = LoggerFactory.getLogger(LockData.class);

    @SuppressWarnings("serial") // never serialized
    private static final class Link extends AtomicReference<Object> {
        private volatile @Nullable Link older;

        Link(Object kept) {
            super(kept);
        }

        static Link inFrontOf(Link older, Link younger) {
            younger.older = older;
            return younger;
        }

        /** Returns the youngest that is left. A thread that walks the list meanwhile misses none of those left. */
        @Nullable
        Link without(Object over) {
            if (isOf(over)) {
                return older;
            }
            Link younger = this;
            Link link = older;
            while (link != null && !link.isOf(over)) {
                younger = link;
                link = link.older;
            }
            if (link != null) {
                younger.older = link.older;
            }
            return this;
        }

        /** Null if it is closed or forgotten. */
        @Nullable
        Hold open() {
            Object kept = get();
            Hold hold = kept instanceof Loose loose ? loose.get() : (Hold) kept;
            return hold == null || hold.isClosed() ? null : hold;
        }

        boolean isStandingOn(LockSpec spec) {
            if (get() instanceof Loose loose) {
                return loose.isStanding() && Held.on(spec, loose.left) != null;
            }
            Hold hold = open();
            return hold != null && hold.isStanding() && hold.grantOn(spec) != null;
        }

        boolean isOf(Object sought) {
            Object kept = get();
            return kept == sought || (kept instanceof Loose loose && loose.get() == sought);
        }
    }

    /** A hold that is lost, or belongs to no thread: only those keep it who can still close it. */
    static final class Loose extends WeakReference<Hold> implements Held.Listener {
        final Hold.Origin lock;
        private final LockData data;
        private final List<? extends Held> left; // to give back; of a lost one without what had ended
        private final Hold.@Nullable Listeners listeners; // told of the end even if nobody has the hold
        private volatile boolean told;

        Loose(Hold hold, LockData data) {
            super(hold, data.dropped);
            this.lock = hold.lock();
            this.data = data;
            boolean isLost = data.dropped == null;
            this.left = isLost
                    ? hold.grants().stream().filter(grant -> !grant.hasEnded()).toList()
                    : hold.grants();
            this.listeners = isLost ? null : hold.listeners();
        }

        /** Whether nothing of it has ended. */
        boolean isStanding() {
            return listeners != null && left.stream().noneMatch(grant -> grant.hasEnded() || grant.isLost());
        }

        @Override
        public void onLost(Held grant) {
            Hold hold = get();
            if (hold != null) {
                hold.onLost(grant);
            } else if (listeners != null) {
                listeners.end(LeaseState.LOST);
                data.takeOut(this, lock.group().paths());
            }
        }
    }

    final @Nullable Thread owner;
    private final @Nullable ReferenceQueue<Hold> dropped; // of those that belong to no thread
    private final Consumer<LockData> useless; // told when it is of no more use
    private final Map<String, Link> open = new ConcurrentHashMap<>(1); // by path, the youngest first
    private volatile boolean hasOtherThreads; // which may close a hold while the owner re-enters
    private @Nullable Set<String> warnedOf; // confined to the engine thread

    private LockData(@Nullable Thread owner, @Nullable ReferenceQueue<Hold> dropped, Consumer<LockData> useless) {
        this.owner = owner;
        this.dropped = dropped;
        this.useless = useless;
    }

    static LockData ofThread(Thread owner, Consumer<LockData> useless) {
        return new LockData(owner, null, useless);
    }

    public static LockData ofInstance() {
        return new LockData(null, null, data -> {});
    }

    /** The leases that belong to no thread, of which the queue gets those that nobody has any more. */
    public static LockData ofNobody(ReferenceQueue<Hold> dropped) {
        return new LockData(null, dropped, data -> {});
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
        Held.Listener kept = dropped == null ? hold : new Loose(hold, this);
        List<String> paths = hold.group().paths();
        for (int i = 0; i < paths.size(); i++) {
            open.merge(paths.get(i), new Link(kept), Link::inFrontOf);
        }
        return sharesGrants() ? this : kept;
    }

    void takeOut(Hold closed) {
        takeOut(closed, closed.group().paths());
    }

    private void takeOut(Object over, List<String> paths) {
        for (int i = 0; i < paths.size(); i++) {
            open.computeIfPresent(paths.get(i), (path, youngest) -> youngest.without(over));
        }
        if (open.isEmpty() && mayClose()) { // a living owner may be just opening another one
            useless.accept(this);
        }
    }

    void expectOtherThreads() {
        hasOtherThreads = true;
    }

    // ---- Lost holds that nobody has any more.

    /** A hold was lost, again if several of its nodes are: the record keeps it only as long as somebody else has it. */
    void lose(Hold lost) {
        List<String> paths = lost.group().paths();
        if (dropped != null) {
            takeOut(lost, paths); // it needs no record: only by the lease itself can it be closed
            return;
        }
        Loose left = new Loose(lost, this);
        for (String path : paths) {
            Link link = open.get(path);
            while (link != null && !link.isOf(lost)) {
                link = link.older;
            }
            if (link == null || !link.compareAndSet(lost, left)) {
                return; // it is closed, or another thread does this
            }
        }
        if (isForgettable()) {
            useless.accept(this);
        }
    }

    private List<Loose> forgotten(String path) {
        List<Loose> forgotten = new ArrayList<>(0);
        for (Link link = open.get(path); link != null; link = link.older) {
            if (link.get() instanceof Loose lost && lost.refersTo(null)) {
                forgotten.add(lost);
            }
        }
        return forgotten;
    }

    /**
     * Lost holds whose leases nobody has count as closed, but not before their owner was told of the loss, by an
     * exception: it may be in the middle of what they protect, and need no lease, since it is going to call release().
     */
    private void closeForgotten(String path) {
        List<Loose> forgotten = forgotten(path);
        if (forgotten.isEmpty()) {
            return;
        }
        if (forgotten.stream().anyMatch(lost -> !lost.told)) {
            forgotten.forEach(lost -> lost.told = true);
            throw new LockLostException("lost the lock " + path
                    + " while it was held: stop what it protects and give it back. Its lease was never closed and is referenced"
                    + " by nobody, so from now on it counts as closed, and the next acquire is a fresh one");
        }
        forgotten.forEach(this::takeOut);
        log.warn(
                "The lock {} of {} was lost while {} held it. Its lease was never closed and is referenced by nobody,"
                        + " so it counts as closed. Close every lease, lost or not, with try-with-resources or release().",
                forgotten.get(0).lock.group().path(),
                forgotten.get(0).lock.ownerLabel(),
                owner == null ? "this process" : "thread " + ownerName());
    }

    /** Gives it back as its close would. */
    private void takeOut(Loose forgotten) {
        takeOut(forgotten, forgotten.lock.group().paths());
        HeldNode.release(
                forgotten.left.stream().filter(grant -> holdOn(grant) == null).toList());
    }

    /** Gives back the youngest lost hold of exactly these locks whose lease nobody has, if there is one, and throws. */
    public void releaseForgotten(LockGroup group) {
        for (Loose lost : forgotten(group.paths().get(0))) {
            if (lost.lock.group().equals(group)) {
                takeOut(lost);
                throw new LockLostException("lost the lock " + group.path()
                        + " while it was held: stop what it protects; it is given back now, so acquire afresh");
            }
        }
    }

    // ---- Finding.

    /** The grants of a hold that was closed on which no open hold stands any more. */
    List<? extends Held> unneededWithout(Hold hold) {
        List<? extends Held> grants = hold.grants();
        if (!sharesGrants()) {
            return grants;
        } else if (grants.size() == 1) {
            return holdOn(grants.get(0)) == null ? grants : List.of();
        }
        return grants.stream().filter(grant -> holdOn(grant) == null).toList();
    }

    /** The youngest open hold on a path that is as wanted; null if none is. */
    private <T> @Nullable Hold youngest(String path, BiPredicate<Hold, T> wanted, T by) {
        for (Link link = open.get(path); link != null; link = link.older) {
            Hold hold = link.open();
            if (hold != null && wanted.test(hold, by)) {
                return hold;
            }
        }
        return null;
    }

    /** The open hold of exactly these locks to give back next: the youngest that is not lost, else the youngest. */
    @Nullable
    public Hold youngest(LockGroup group) {
        String path = group.paths().get(0);
        Hold standing = youngest(path, (hold, same) -> hold.group().equals(same) && !hold.isLost(), group);
        return standing != null
                ? standing
                : youngest(path, (hold, same) -> hold.group().equals(same), group);
    }

    /** The youngest open hold that stands on the grant; null if none does. */
    @Nullable
    Hold holdOn(Held grant) {
        return youngest(grant.spec().path(), Hold::standsOn, grant);
    }

    /** The youngest open hold that stands on a grant of this lock; null if none does. It may be lost. */
    private @Nullable Hold holdOf(LockSpec spec) {
        return youngest(spec.path(), (hold, lock) -> hold.grantOn(lock) != null, spec);
    }

    /** The grant on this lock that the youngest open hold stands on; null if none does. It may be lost. */
    @Nullable
    public Held grantOn(LockSpec spec) {
        Hold hold = holdOf(spec);
        return hold == null ? null : hold.grantOn(spec);
    }

    @Override
    public void onLost(Held grant) {
        for (Link link = open.get(grant.spec().path()); link != null; link = link.older) {
            Hold hold = link.open();
            if (hold != null && hold.standsOn(grant)) {
                hold.onLost(grant);
            }
        }
    }

    private Stream<Hold> on(String path) {
        Stream.Builder<Hold> holds = Stream.builder();
        for (Link link = open.get(path); link != null; link = link.older) {
            Hold hold = link.open();
            if (hold != null) {
                holds.add(hold);
            }
        }
        return holds.build();
    }

    private Stream<Hold> all() {
        return open.keySet().stream().flatMap(this::on);
    }

    // ---- Asking.

    public int count(LockGroup group) {
        return (int) on(group.paths().get(0))
                .filter(hold -> hold.group().equals(group))
                .count();
    }

    public boolean holds(LockGroup group) {
        return group.all().stream().allMatch(this::holds);
    }

    private boolean holds(LockSpec spec) {
        for (Link link = open.get(spec.path()); link != null; link = link.older) {
            if (link.isStandingOn(spec)) {
                return true;
            }
        }
        return false;
    }

    public void requireNoneLost() {
        open.keySet().forEach(this::closeForgotten);
        all().forEach(Hold::requireNotLost);
    }

    // ---- Re-entry.

    /**
     * Opens one more hold of a lock by the owner, on the {@link #grantsToReenter}; null if another thread has closed
     * the one that it would stand beside. Looked at afterwards: who closes that one from then on finds the new one.
     */
    @Nullable
    public Hold reenter(Hold.Origin lock, List<? extends Held> grants) {
        Hold again = new Hold(lock, grants, this);
        opened(again);
        if (hasOtherThreads && grants.stream().anyMatch(grant -> !isHeldBeside(again, grant))) {
            again.beginClosing(false);
            return null;
        }
        return again;
    }

    private boolean isHeldBeside(Hold hold, Held grant) {
        return youngest(grant.spec().path(), (other, same) -> other != hold && other.standsOn(same), grant) != null;
    }

    /**
     * The grants that one more hold of these locks can stand on; null if the owner holds nothing on their paths, or a
     * single lock in the {@code otherMode}. Throws if one is lost, or if the owner would wait for itself: it holds some
     * of several locks, or holds a path by another rule.
     */
    @Nullable
    public List<? extends Held> grantsToReenter(LockGroup group, @Nullable LockSpec otherMode) {
        Hold same = group.isSingle() ? holdOf(group.all().get(0)) : null;
        if (same != null && same.grants().size() == 1) {
            same.requireNotLost();
            return same.grants();
        }
        List<Held> found = new ArrayList<>();
        for (LockSpec spec : group.all()) {
            Held grant = grantOn(spec);
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
                        .flatMap(hold -> hold.grants().stream())
                        .map(Held::spec)
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
