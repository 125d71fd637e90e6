// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.revoke.RevocationListeners;
import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.internal.thread.Deadline;
import dev.zkrecipes.core.internal.thread.SharedFuture;
import dev.zkrecipes.core.internal.wire.Printable;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/**
 * One hold: a share in a grant, or in several that were acquired as one. Closing it tells the lock, which releases each
 * grant with its last hold.
 */
public final class Hold implements Lease, HeldNode.Listener {
    private final LockHost client;
    private final EngineLock lock;
    private final List<HeldNode> grants;
    private final LockData data;
    private final AtomicReference<@Nullable LeaseState> closedAs = new AtomicReference<>();
    private final CompletableFuture<Void> givenBack = new CompletableFuture<>();
    private final CompletableFuture<LeaseState> ended = new CompletableFuture<>();
    private final AtomicReference<@Nullable CompletableFuture<LeaseState>> endedForAll = new AtomicReference<>();
    private final AtomicReference<@Nullable CompletableFuture<Void>> givenBackForAll = new AtomicReference<>();
    private final RevocationListeners revocationListeners;
    private volatile boolean listens;

    /** Makes a hold that is in no record yet, see {@link #open}. */
    public Hold(EngineLock lock, List<HeldNode> grants, LockData data) {
        this.client = lock.client();
        this.lock = lock;
        this.grants = grants;
        this.data = data;
        this.revocationListeners = new RevocationListeners(grants, this::isStanding, client.callbacks());
    }

    /** Enters the hold in its owner's record; from now on it hears of the end of what it stands on. */
    public void open() {
        data.opened(this);
        grants.forEach(grant -> grant.attach(this));
    }

    /** What is held, as it was asked for. */
    public LockGroup targets() {
        return lock.targets();
    }

    public List<HeldNode> grants() {
        return grants;
    }

    /** The grant on this lock that the hold stands on; null if it does not. */
    @Nullable
    public HeldNode grantOn(LockSpec target) {
        for (HeldNode grant : grants) {
            if (grant.target().equals(target)) {
                return grant;
            }
        }
        return null;
    }

    public LockData data() {
        return data;
    }

    /** A grant has ended under this hold, or with it. On the engine thread. */
    @Override
    public void onNodeEnded(LeaseState how) {
        ended.complete(how);
        endListening();
        lock.onHoldEnded(this);
    }

    /** Open and not lost. */
    public boolean isStanding() {
        return closedAs.get() == null && grantState() != LeaseState.LOST;
    }

    /** The worst state of what the hold stands on. */
    private LeaseState grantState() {
        LeaseState worst = LeaseState.HELD;
        for (HeldNode grant : grants) {
            LeaseState state = grant.state();
            worst = state.compareTo(worst) > 0 ? state : worst;
        }
        return worst;
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
        return grants.stream().collect(Collectors.toUnmodifiableMap(HeldNode::lockPath, HeldNode::token));
    }

    @Override
    public LeaseState state() {
        LeaseState closed = closedAs.get();
        return closed != null ? closed : grantState();
    }

    @Override
    public boolean isValid() {
        return state() == LeaseState.HELD;
    }

    @Override
    public void verify() throws InterruptedException {
        Blocking.requireMayBlock(client.scheduler());
        requireOpenAndStanding();
        CompletableFuture<Code> answered = new CompletableFuture<>();
        client.scheduler().execute(() -> HeldNode.check(grants, answered::complete));
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
        Completion.on(ended, (state, failure) -> {
            if (state == LeaseState.LOST) {
                client.callbacks().run(listener);
            }
        });
    }

    @Override
    public void onRevocationRequested(Consumer<RevocationRequest> listener) {
        Objects.requireNonNull(listener, "listener");
        listens = true;
        client.scheduler().execute(() -> revocationListeners.add(listener));
    }

    @Override
    public CompletableFuture<LeaseState> ended() {
        return shared(endedForAll, ended);
    }

    @Override
    public void close() {
        boolean closes = beginClosing();
        lock.awaitRelease(givenBack);
        if (closes && state() == LeaseState.RELEASED) {
            Blocking.throwFailure(givenBack);
        }
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        beginClosing();
        return shared(givenBackForAll, givenBack);
    }

    private <T> CompletableFuture<T> shared(
            AtomicReference<@Nullable CompletableFuture<T>> place, CompletableFuture<T> source) {
        CompletableFuture<T> made = place.get();
        if (made != null) {
            return made;
        }
        CompletableFuture<T> mine = SharedFuture.of(source, client.callbacks()::run);
        CompletableFuture<T> first = place.compareAndExchange(null, mine);
        return first != null ? first : mine;
    }

    /**
     * Gives the hold back without waiting; returns whether it was this call that did.
     *
     * @throws IllegalMonitorStateException if the caller may not
     */
    public boolean beginClosing() {
        if (closedAs.get() != null) {
            return false;
        }
        if (!data.mayClose()) {
            throw new IllegalMonitorStateException("this hold of the lock " + path() + " belongs to thread "
                    + Printable.of(data.ownerName()) + ", which is alive: only that thread may close it");
        }
        LeaseState last = grantState() == LeaseState.LOST ? LeaseState.LOST : LeaseState.RELEASED;
        if (!closedAs.compareAndSet(null, last)) {
            return false;
        }
        grants.forEach(grant -> grant.detach(this));
        Completion.forward(lock.giveBack(this), givenBack);
        ended.complete(last);
        endListening();
        return true;
    }

    private void endListening() {
        if (listens) { // a listener that comes later sees that the hold is closed
            client.scheduler().execute(revocationListeners::end);
        }
    }

    public CompletableFuture<Void> givenBack() {
        return givenBack;
    }

    public void requireNotLost() {
        grants.forEach(HeldNode::requireNotLost);
    }

    private void requireOpenAndStanding() {
        requireNotLost();
        if (closedAs.get() != null) {
            throw new IllegalMonitorStateException("this hold of the lock " + path() + " is closed");
        }
    }
}
