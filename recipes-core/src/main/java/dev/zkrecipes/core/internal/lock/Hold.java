// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.node.HeldNodes;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.revoke.RevocationListeners;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.Deadline;
import java.lang.ref.Reference;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * One hold: a share in a grant, or in several that were acquired as one. Closing it tells the lock, which releases each
 * grant with its last hold. Re-entry makes one of these and nothing else, so it is small: futures and listeners are
 * made on demand, and then told what has happened meanwhile.
 */
public final class Hold implements Lease, HeldNode.Listener {
    private static final AtomicReferenceFieldUpdater<Hold, @Nullable Closing> CLOSING =
            AtomicReferenceFieldUpdater.newUpdater(Hold.class, Closing.class, "closing");
    private static final AtomicReferenceFieldUpdater<Hold, @Nullable HoldFutures> FUTURES =
            AtomicReferenceFieldUpdater.newUpdater(Hold.class, HoldFutures.class, "futures");
    private static final AtomicReferenceFieldUpdater<Hold, @Nullable RevocationListeners> REVOCATIONS =
            AtomicReferenceFieldUpdater.newUpdater(Hold.class, RevocationListeners.class, "revocations");

    /** The lock through which a hold was acquired. */
    interface Origin {
        LockHost client();

        LockGroup group();

        String path();

        /** Releases the nodes of this hold that no other hold stands on, now that this one has left the record. */
        CompletableFuture<Void> giveBack(Hold lease);

        /** A node of the hold has ended: the record of a dead owner is of no more use. On the engine thread. */
        void onHoldEnded(Hold lease);

        /** Whether giving back waits for ZooKeeper's answer and reports it. */
        boolean confirmsRelease();

        /** Waits for ZooKeeper's confirmation that the node is gone, as long as there is a connection. */
        void awaitRelease(CompletableFuture<Void> givenBack);
    }

    /** What a hold was closed as, and what is released with it. Both are set a little after the hold is closed. */
    private static final class Closing {
        private volatile @Nullable LeaseState as; // by the end of the nodes, which another thread may end as lost
        private volatile @Nullable CompletableFuture<Void> released;

        static Closing releasingNothing(LeaseState as) {
            Closing closing = new Closing();
            closing.as = as;
            closing.released = CompletableFuture.completedFuture(null); // nobody outside sees it
            return closing;
        }
    }

    // Those of all holds that were not the last one.
    private static final Closing RELEASED_NOTHING = Closing.releasingNothing(LeaseState.RELEASED);
    private static final Closing LOST_BEFORE = Closing.releasingNothing(LeaseState.LOST);
    private static final Closing DECIDING = new Closing(); // between one of these two

    private final Origin lock;
    private final List<HeldNode> grants;
    private final LockData data;
    private volatile @Nullable Closing closing;
    private volatile @Nullable HoldFutures futures;
    private volatile @Nullable RevocationListeners revocations;
    private @Nullable Reference<Lease> toLease;

    /** Makes a hold that is in no record yet. */
    Hold(Origin lock, List<HeldNode> grants, LockData data) {
        this.lock = lock;
        this.grants = grants;
        this.data = data;
    }

    /**
     * Opens the first hold on these grants, in its owner's record. From now on it hears of their end. Whatever is
     * thrown in here, the grants are given back.
     */
    static Hold open(Origin lock, List<HeldNode> grants, LockData data, @Nullable ObservedRequest observed) {
        Hold opened = new Hold(lock, grants, data);
        try {
            data.opened(opened);
            HeldNode.Listener listener = data.sharesGrants() ? data : opened;
            for (int i = 0; i < grants.size(); i++) {
                grants.get(i).attach(listener);
            }
            if (observed != null) {
                observed.granted(grants);
            }
            return opened;
        } catch (Throwable t) {
            opened.beginClosing();
            throw t;
        }
    }

    /** What is held, as it was asked for. */
    LockGroup group() {
        return lock.group();
    }

    /** Keeps the reference that tells when nobody has the lease of the hold any more. */
    void keep(Reference<Lease> reference) {
        toLease = reference;
    }

    Origin origin() {
        return lock;
    }

    List<HeldNode> grants() {
        return grants;
    }

    boolean standsOn(HeldNode node) {
        return grants.contains(node);
    }

    /** The grant on this lock that the hold stands on; null if it does not. */
    @Nullable
    HeldNode grantOn(LockSpec spec) {
        return HeldNodes.on(spec, grants);
    }

    LockData data() {
        return data;
    }

    /** A node of this hold has ended, with it or under it. On the engine thread. */
    @Override
    public void onNodeEnded(HeldNode node, LeaseState how) {
        HoldFutures told = futures;
        if (told != null && closing == null) { // else the thread that closes it tells
            told.end(how);
        }
        endListening();
        if (how == LeaseState.LOST) {
            data.lose(this);
        }
        lock.onHoldEnded(this);
    }

    boolean isClosed() {
        return closing != null;
    }

    /** Open and not lost. */
    boolean isStanding() {
        return !isClosed() && !isLost();
    }

    boolean isLost() {
        return HeldNodes.anyIsLost(grants);
    }

    @Override
    public String path() {
        return lock.path();
    }

    @Override
    public long fencingToken() {
        Set<Long> tokens = new HashSet<>(fencingTokens().values());
        if (tokens.size() > 1) {
            throw new IllegalStateException("the locks " + path()
                    + " were not entered together, so they have no token in common: see fencingTokens()");
        }
        return tokens.iterator().next();
    }

    @Override
    public Map<String, Long> fencingTokens() {
        requireOpenAndStanding();
        return grants.stream().collect(Collectors.toUnmodifiableMap(HeldNode::lockPath, HeldNode::token));
    }

    @Override
    public LeaseState state() {
        Closing closed = closing;
        LeaseState as = closed == null ? null : closed.as;
        return as != null ? as : HeldNodes.state(grants);
    }

    @Override
    public boolean isValid() {
        return state() == LeaseState.HELD;
    }

    @Override
    public void verify() throws InterruptedException {
        LockHost client = lock.client();
        Blocking.requireMayBlock(client.scheduler());
        Blocking.throwIfInterrupted();
        requireOpenAndStanding();
        CompletableFuture<Code> answered = client.questions().open(path());
        client.scheduler().execute(() -> HeldNodes.check(grants, answered::complete));
        Code code = Blocking.await(answered, Deadline.after(client.requestTimeout(), client.scheduler()))
                .orElse(Code.OPERATIONTIMEOUT);
        requireOpenAndStanding(); // closed meanwhile, the node may be there for another holder
        if (code != Code.OK) {
            throw new LockConnectionException("could not verify the lock " + path() + " (" + code
                    + "): it is not known whether it is held; treat it as not held, or verify again");
        }
    }

    @Override
    public Op guard() {
        List<Op> all = guards();
        if (all.size() > 1) {
            throw new IllegalStateException("the lease of " + path() + " stands on " + all.size()
                    + " nodes, which one operation cannot check: put all of guards() into the multi");
        }
        return all.get(0);
    }

    @Override
    public List<Op> guards() {
        requireOpenAndStanding();
        return grants.stream().map(grant -> Op.check(grant.nodePath(), -1)).toList();
    }

    @Override
    public void onLost(Runnable listener) {
        futures().onLost(listener);
    }

    @Override
    public void onRevocationRequested(Consumer<RevocationRequest> listener) {
        Objects.requireNonNull(listener, "listener");
        RevocationListeners told = revocations();
        lock.client().scheduler().execute(() -> told.add(listener));
    }

    private RevocationListeners revocations() {
        RevocationListeners made = revocations;
        if (made == null) {
            made = new RevocationListeners(
                    grants, this::isStanding, lock.client().callbacks());
            if (!REVOCATIONS.compareAndSet(this, null, made)) {
                return Objects.requireNonNull(revocations);
            }
            HeldNode.Observer observer = grants.get(0).observer();
            if (observer != null) {
                RevocationListeners listeners = made;
                lock.client().scheduler().execute(() -> listeners.add(request -> observer.onRevocationRequested()));
            }
        }
        return made;
    }

    @Override
    public CompletionStage<LeaseState> ended() {
        return futures().ended();
    }

    private HoldFutures futures() {
        HoldFutures made = futures;
        if (made != null) {
            return made;
        }
        made = new HoldFutures(lock.client().callbacks());
        if (!FUTURES.compareAndSet(this, null, made)) {
            return Objects.requireNonNull(futures);
        }
        // Looked at afterwards: what happens from now on finds the futures.
        Closing closed = closing;
        LeaseState as = closed == null ? null : closed.as; // null if open, or if the thread that closes it will tell
        if (as != null) {
            made.end(as);
        } else if (closed == null && isLost()) {
            made.end(LeaseState.LOST);
        }
        CompletableFuture<Void> gone = released();
        if (gone != null) {
            made.givenBackWith(gone);
        }
        return made;
    }

    @Override
    public void close() {
        boolean closes = beginClosing();
        awaitRelease();
        if (closes && state() == LeaseState.RELEASED) {
            throwRefusal();
        }
    }

    /**
     * Waits until the nodes that are released with this hold, which is closed, are known to be gone, if the lock is to
     * wait.
     */
    void awaitRelease() {
        if (lock.confirmsRelease()) {
            lock.awaitRelease(givenBack());
        }
    }

    /** Throws what ZooKeeper has said against the deletion, if it has and the lock is to tell. */
    void throwRefusal() {
        if (lock.confirmsRelease()) {
            Blocking.throwFailure(givenBack());
        }
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        beginClosing();
        return futures().released();
    }

    /**
     * Gives the hold back without waiting; returns whether this call did.
     *
     * @throws IllegalMonitorStateException if the caller may not
     */
    @CanIgnoreReturnValue
    boolean beginClosing() {
        if (isClosed()) {
            return false;
        }
        if (!data.mayClose()) {
            throw new IllegalMonitorStateException("this hold of the lock " + path() + " belongs to thread "
                    + data.ownerName() + ", which is alive: only that thread may close it");
        }
        boolean leavesAll = data.isOwnedByCaller() && releasesNothing(); // nobody else closes the others meanwhile
        // What it is closed as is found out after that: a loss that is told to an open hold is seen then.
        Closing last = leavesAll ? DECIDING : new Closing();
        if (!CLOSING.compareAndSet(this, null, last)) {
            return false;
        }
        if (toLease != null) {
            toLease.clear(); // nothing is left to tell
        }
        try {
            data.takeOut(this);
            if (leavesAll) { // the last one looks at the clock; the others rely on what the engine knows
                last = HeldNodes.anyHasEnded(grants) ? LOST_BEFORE : RELEASED_NOTHING;
                closing = last;
            } else {
                boolean wasLost = isLost(); // by the clock, too, at which nobody else looks
                last.released = lock.giveBack(this);
                last.as = wasLost || isLost() ? LeaseState.LOST : LeaseState.RELEASED;
            }
        } catch (Throwable t) { // nobody else does the rest, so this ends the client
            lock.client().scheduler().execute(() -> {
                throw new IllegalStateException("a lease of the lock " + path() + " is half closed", t);
            });
            closing = LOST_BEFORE;
            tell(LOST_BEFORE);
            throw t;
        }
        tell(last);
        endListening();
        return true;
    }

    private void tell(Closing last) {
        HoldFutures told = futures;
        if (told != null) {
            told.givenBackWith(Objects.requireNonNull(last.released));
            told.end(Objects.requireNonNull(last.as));
        }
    }

    private void endListening() {
        RevocationListeners told = revocations; // a listener that comes later sees that the hold is closed
        if (told != null) {
            lock.client().scheduler().execute(told::end);
        }
    }

    /** Whether other open holds stand on all that this one does, so that nothing is released with it. */
    boolean releasesNothing() {
        for (int i = 0; i < grants.size(); i++) {
            if (!data.isShared(grants.get(i), this)) {
                return false;
            }
        }
        return true;
    }

    private CompletableFuture<Void> givenBack() {
        CompletableFuture<Void> gone = released();
        return gone != null ? gone : futures().givenBack(); // another thread is just giving it back
    }

    private @Nullable CompletableFuture<Void> released() {
        Closing closed = closing;
        return closed == null ? null : closed.released;
    }

    void requireNotLost() {
        HeldNodes.requireNoneLost(grants);
    }

    @Override
    public String toString() {
        String tokens = grants.stream()
                .map(grant -> String.valueOf(grant.tokenWhenGranted()))
                .distinct()
                .collect(Collectors.joining(", "));
        return "Lease[" + path() + ", " + state() + ", token " + tokens + ", session 0x"
                + Long.toHexString(grants.get(0).session().zk().sessionId()) + "]";
    }

    private void requireOpenAndStanding() {
        requireNotLost();
        if (isClosed()) {
            throw new IllegalMonitorStateException("this hold of the lock " + path() + " is closed");
        }
    }
}
