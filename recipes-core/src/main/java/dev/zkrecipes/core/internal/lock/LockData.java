// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.internal.node.Held;
import dev.zkrecipes.core.internal.node.HeldNodes;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.thread.ThreadName;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The open holds of one owner: of a thread, through all locks of a client, or of a lock object that any thread may use.
 * They are found by path and rule. A thread opens and closes its own; once it is dead, any thread may close them. What
 * is over stays so, and is left out in place: whoever looks meanwhile misses nothing that was open before. Thread-safe.
 *
 * <p>A hold that is closed counts no more from that moment on; to take it out only frees memory. A lost hold is kept
 * only weakly, so it counts no more once nobody has its lease: no one else could ever close it.
 */
public final class LockData implements Held.Listener {
    private static final Logger log = LoggerFactory.getLogger(LockData.class);

    /**
     * A hold in the record, or what is left of a lost one, and those that were opened before it. One that is over goes
     * at once if it is the youngest, otherwise with others when half of all are over: to take one out of ten thousand
     * takes as long as they are.
     */
    static final class Link {
        private static final AtomicReferenceFieldUpdater<Link, @Nullable Lost> LOST =
                AtomicReferenceFieldUpdater.newUpdater(Link.class, Lost.class, "lost");

        private volatile @Nullable Hold hold; // null when it is lost
        private volatile @Nullable Lost lost;
        private volatile @Nullable Link older;
        private volatile int spare; // how many of all these are, less twice how many of them are over, about

        private Link(Hold hold, @Nullable Link older) {
            this.hold = hold;
            this.older = older;
            this.spare = older == null ? 1 : older.spare + 1;
        }

        /** Null if it is closed or forgotten. */
        private @Nullable Hold open() {
            Hold found = hold;
            if (found == null) {
                Lost left = lost;
                found = left == null ? null : left.get();
            }
            return found == null || found.isClosed() ? null : found;
        }

        /** Whether it is of no more use, other than one that is forgotten and of which the owner was not told. */
        private boolean isOver() {
            if (open() != null) {
                return false;
            }
            Lost left = lost; // looked at afterwards: it may be lost, and forgotten, meanwhile
            return left == null || left.isOver || !left.refersTo(null);
        }

        /** These, of which one more is over: from the youngest on that is not; null if all are. */
        private @Nullable Link withOneMoreOver() {
            Link youngest = this;
            int left = spare - 2;
            while (youngest != null && youngest.isOver()) {
                youngest = youngest.older;
                left++;
            }
            if (youngest != null) {
                youngest.spare = left < 0 ? youngest.tidy() : left;
            }
            return youngest;
        }

        /** Several may do so at a time: what is over stays so, what is not is never left out. Returns how many stay. */
        private int tidy() {
            int count = 1;
            Link last = this;
            for (Link next = older; next != null; next = next.older) {
                if (!next.isOver()) {
                    last.older = next;
                    last = next;
                    count++;
                }
            }
            last.older = null;
            return count;
        }
    }

    /** A lost hold, which only those keep who can still close it. */
    private static final class Lost extends WeakReference<Hold> {
        final Hold.Origin lock;
        final List<Held> left; // to give back: of several nodes those that were not lost, or what a foreign lock has
        volatile boolean told;
        volatile boolean isOver; // closed, or told of

        Lost(Hold hold) {
            super(hold);
            this.lock = hold.lock();
            this.left = new ArrayList<>(hold.grants());
            left.removeIf(Held::hasEnded);
        }
    }

    private final @Nullable Thread owner;
    private final Consumer<LockData> useless; // told when it is of no more use
    private final Map<String, Link> open = new ConcurrentHashMap<>(1); // by path, the youngest first
    private @Nullable Set<String> warnedOf; // confined to the engine thread

    /** What a thread holds. */
    LockData(Thread owner, Consumer<LockData> useless) {
        this.owner = owner;
        this.useless = useless;
    }

    /** What belongs to no thread. */
    LockData() {
        this.owner = null;
        this.useless = data -> {};
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
            Link before;
            Link made;
            do {
                before = open.get(paths.get(i));
                made = new Link(hold, before);
                if (i == 0) {
                    hold.isRecordedAs(made);
                }
            } while (!replace(paths.get(i), before, made));
        }
    }

    void takeOut(Hold closed) {
        Link link = closed.link();
        Lost lost = link == null ? null : link.lost; // looked at after it was closed, see lose
        if (lost != null) {
            lost.isOver = true;
        }
        tidy(closed.group());
        forgetIfEmpty();
    }

    /** One link of each of these paths is over. */
    private void tidy(LockGroup group) {
        List<String> paths = group.paths();
        for (int i = 0; i < paths.size(); i++) {
            Link before;
            do {
                before = open.get(paths.get(i));
            } while (before != null && !leave(paths.get(i), before));
        }
    }

    private boolean leave(String path, Link before) {
        Link after = before.withOneMoreOver();
        return after == before || replace(path, before, after);
    }

    /** Does nothing, and returns false, if somebody else was faster. */
    private boolean replace(String path, @Nullable Link before, @Nullable Link after) {
        if (before == null) {
            return after == null || open.putIfAbsent(path, after) == null;
        }
        return after == null ? open.remove(path, before) : open.replace(path, before, after);
    }

    /** A record in which nothing is open is of no use. */
    void forgetIfEmpty() {
        if (open.isEmpty()) {
            useless.accept(this);
        }
    }

    // ---- Lost holds that nobody has any more.

    /** A hold was lost, again if several of its nodes are: the record keeps it only as long as somebody else has it. */
    void lose(Hold lost) {
        Link first = lost.link();
        Lost left = new Lost(lost);
        if (first == null || !Link.LOST.compareAndSet(first, null, left)) {
            return;
        }
        for (String path :
                lost.group().isSingle() ? List.<String>of() : lost.group().paths()) {
            for (Link link = open.get(path); link != null; link = link.older) {
                if (link.hold == lost) {
                    link.lost = left;
                    link.hold = null;
                }
            }
        }
        first.hold = null;
        if (lost.isClosed()) { // looked at afterwards: who closes it looks for what is left of it
            left.isOver = true;
        }
        if (isForgettable()) {
            useless.accept(this);
        }
    }

    private List<Lost> forgotten(String path) {
        List<Lost> forgotten = List.of();
        for (Link link = open.get(path); link != null; link = link.older) {
            Lost lost = link.lost;
            if (lost != null && !lost.isOver && lost.refersTo(null)) {
                forgotten = forgotten.isEmpty() ? new ArrayList<>() : forgotten;
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
        List<Lost> forgotten = forgotten(path);
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
    private void takeOut(Lost forgotten) {
        forgotten.isOver = true;
        tidy(forgotten.lock.group());
        HeldNodes.release(
                forgotten.left.stream().filter(grant -> holdOn(grant) == null).toList());
        forgetIfEmpty();
    }

    /**
     * Gives back the youngest lost hold of exactly these locks whose lease nobody has any more, and throws; does
     * nothing if there is none.
     */
    void releaseForgotten(LockGroup group) {
        for (Lost lost : forgotten(group.paths().get(0))) {
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

    /** The open hold of exactly these locks to give back next: the youngest that is not lost, else the youngest. */
    @Nullable
    Hold youngest(LockGroup group) {
        Hold lost = null;
        for (Link link = open.get(group.paths().get(0)); link != null; link = link.older) {
            Hold hold = link.open();
            if (hold != null && hold.group().equals(group)) {
                if (!hold.isLost()) {
                    return hold;
                }
                lost = lost == null ? hold : lost;
            }
        }
        return lost;
    }

    /** The youngest open hold that stands on the grant; null if none does. */
    @Nullable
    Hold holdOn(Held grant) {
        for (Link link = open.get(grant.spec().path()); link != null; link = link.older) {
            Hold hold = link.open();
            if (hold != null && hold.standsOn(grant)) {
                return hold;
            }
        }
        return null;
    }

    /** The youngest open hold that stands on a grant of this lock; null if none does. It may be lost. */
    private @Nullable Hold holdOf(LockSpec spec) {
        for (Link link = open.get(spec.path()); link != null; link = link.older) {
            Hold hold = link.open();
            if (hold != null && hold.grantOn(spec) != null) {
                return hold;
            }
        }
        return null;
    }

    /** The grant on this lock that the youngest open hold stands on; null if none does. It may be lost. */
    @Nullable
    Held grantOn(LockSpec spec) {
        Hold hold = holdOf(spec);
        return hold == null ? null : hold.grantOn(spec);
    }

    @Override
    public void onEnded(Held grant, LeaseState how) {
        for (Link link = open.get(grant.spec().path()); link != null; link = link.older) {
            Hold hold = link.open();
            if (hold != null && hold.standsOn(grant)) {
                hold.onEnded(grant, how);
            }
        }
    }

    /** The open holds on a path, the youngest first. */
    private List<Hold> on(String path) {
        List<Hold> holds = new ArrayList<>();
        for (Link link = open.get(path); link != null; link = link.older) {
            Hold hold = link.open();
            if (hold != null) {
                holds.add(hold);
            }
        }
        return holds;
    }

    private Stream<Hold> all() {
        return open.keySet().stream().flatMap(path -> on(path).stream());
    }

    // ---- Asking.

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

    /** Throws a {@link LockLostException} if an open hold is lost. */
    void requireNoneLost() {
        open.keySet().forEach(this::closeForgotten);
        all().forEach(Hold::requireNotLost);
    }

    // ---- Re-entry.

    /**
     * Opens one more hold of a lock by the owner; null if {@link #grantsToReenter} is. Whatever is thrown in here,
     * nothing was opened.
     */
    @Nullable
    Hold reenter(Hold.Origin lock, @Nullable LockSpec otherMode) {
        List<? extends Held> grants = grantsToReenter(lock.group(), otherMode);
        if (grants == null) {
            return null;
        }
        Hold again = new Hold(lock, grants, this);
        try {
            opened(again);
            return again;
        } catch (Throwable t) {
            again.beginClosing(false);
            throw t;
        }
    }

    /**
     * The grants that one more hold of these locks can stand on; null if the owner holds nothing on their paths, or a
     * single lock in the {@code otherMode}, from which it may get this one. Throws if one is lost, or if the owner
     * would wait for itself: it holds some of several locks, but not all, or holds a path by another rule.
     */
    @Nullable
    List<? extends Held> grantsToReenter(LockGroup group, @Nullable LockSpec otherMode) {
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
}
