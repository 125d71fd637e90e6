// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockConnectionException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/** One hold: a share in a grant. Closing it tells the lock, which releases the grant with its last hold. */
final class HeldLease implements Lease {
    private final EngineClient client;
    private final EngineLock lock;
    private final Grant grant;
    private final @Nullable LockData data;
    private final AtomicReference<@Nullable LeaseState> closedAs = new AtomicReference<>();
    private final CompletableFuture<Void> givenBack = new CompletableFuture<>();
    private final CompletableFuture<LeaseState> ended = new CompletableFuture<>();

    /**
     * Makes a hold.
     *
     * @param data the owner's record; null if the hold belongs to nobody
     */
    HeldLease(EngineClient client, EngineLock lock, Grant grant, @Nullable LockData data) {
        this.client = client;
        this.lock = lock;
        this.grant = grant;
        this.data = data;
        grant.attach(this);
    }

    Grant grant() {
        return grant;
    }

    @Nullable
    LockData data() {
        return data;
    }

    /** The grant has ended under this hold, or with it. On the engine thread. */
    void onGrantEnded(LeaseState how) {
        ended.complete(how);
        lock.onHoldEnded(this);
    }

    /** Open and not lost. */
    boolean isStanding() {
        return closedAs.get() == null && grant.state() != LeaseState.LOST;
    }

    @Override
    public String path() {
        return grant.lockPath();
    }

    @Override
    public long fencingToken() {
        return grant.token();
    }

    @Override
    public LeaseState state() {
        LeaseState closed = closedAs.get();
        return closed != null ? closed : grant.state();
    }

    @Override
    public boolean isValid() {
        return state() == LeaseState.HELD;
    }

    @Override
    public void verify() throws InterruptedException {
        Blocking.requireMayBlock(client);
        requireOpenAndStanding();
        CompletableFuture<Code> answered = new CompletableFuture<>();
        client.scheduler().execute(() -> {
            grant.session().check(List.of(grant.nodePath()), answer -> {
                if (answer.code() == Code.NONODE) {
                    grant.lose("its node was deleted by somebody else");
                }
                answered.complete(answer.code());
            });
        });
        Code code = Blocking.await(answered, Deadline.after(client.requestTimeout(), client.scheduler()))
                .orElse(Code.OPERATIONTIMEOUT);
        grant.requireNotLost();
        if (code != Code.OK) {
            throw new LockConnectionException("could not verify the lock " + path() + " (" + code
                    + "): it is not known whether it is held; treat it as not held, or verify again");
        }
    }

    @Override
    public Op guard() {
        requireOpenAndStanding();
        return Op.check(grant.nodePath(), -1);
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
    public CompletableFuture<LeaseState> ended() {
        return ended.thenApplyAsync(state -> state, client.callbacks()::run);
    }

    @Override
    public void close() {
        beginClosing();
        lock.awaitRelease(givenBack);
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        beginClosing();
        return givenBack.thenApplyAsync(nothing -> null, client.callbacks()::run);
    }

    /**
     * Gives the hold back without waiting; returns whether it was this call that did.
     *
     * @throws IllegalMonitorStateException if the caller may not
     */
    boolean beginClosing() {
        if (closedAs.get() != null) {
            return false;
        }
        if (data != null && !data.mayClose()) {
            throw new IllegalMonitorStateException("this hold of the lock " + path() + " belongs to thread "
                    + data.ownerName() + ", which is alive: only that thread may close it");
        }
        LeaseState last = grant.state() == LeaseState.LOST ? LeaseState.LOST : LeaseState.RELEASED;
        if (!closedAs.compareAndSet(null, last)) {
            return false;
        }
        grant.detach(this);
        Completion.forward(lock.giveBack(this), givenBack);
        ended.complete(last);
        return true;
    }

    CompletableFuture<Void> givenBack() {
        return givenBack;
    }

    private void requireOpenAndStanding() {
        grant.requireNotLost();
        if (closedAs.get() != null) {
            throw new IllegalMonitorStateException("this hold of the lock " + path() + " is closed");
        }
    }
}
