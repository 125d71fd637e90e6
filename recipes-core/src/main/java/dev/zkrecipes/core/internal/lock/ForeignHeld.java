// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.node.HoldLimit;
import dev.zkrecipes.core.spi.ForeignLock;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.zookeeper.Op;
import org.jspecify.annotations.Nullable;

/** What a foreign lock on a client has acquired: it is lost when its time is over, and observed. Thread-safe. */
final class ForeignHeld implements ForeignLock.Hold {
    private final String path;
    private final ForeignLock.Hold hold;
    private final LockHost client;
    private final @Nullable ObservedRequest observed;
    private final @Nullable HoldLimit limit;
    private final AtomicReference<@Nullable LeaseState> end = new AtomicReference<>();
    private final CompletableFuture<Void> overdue = new CompletableFuture<>();

    ForeignHeld(
            String path,
            ForeignLock.Hold hold,
            LockHost client,
            LockOptions options,
            @Nullable ObservedRequest observed) {
        this.path = path;
        this.hold = hold;
        this.client = client;
        this.observed = observed;
        long now = options.holdAtMost().isEmpty() ? 0 : client.scheduler().nanoTime();
        this.limit = options.holdAtMost()
                .map(most -> new HoldLimit(client.scheduler(), most, now))
                .orElse(null);
    }

    /** The caller has it. */
    void begin() {
        if (observed != null && observed.granted(1)) {
            hold.onLost(() -> observed.onLost("the lock " + path + " says so"));
        }
        if (limit != null) {
            limit.begin(this::state);
        }
    }

    @Override
    public LeaseState state() {
        if (end.get() == null && limit != null && limit.isOver() && end.compareAndSet(null, LeaseState.LOST)) {
            if (observed != null) {
                observed.onLost(limit.reason());
            }
            client.callbacks().run(() -> {
                overdue.complete(null);
                giveBack(true);
            });
        }
        return end.get() == LeaseState.LOST ? LeaseState.LOST : hold.state();
    }

    /** Throws the reason if the time is over. */
    void requireInTime() {
        if (limit != null && state() == LeaseState.LOST && end.get() == LeaseState.LOST) {
            throw new LockLostException("lost the lock " + path + ": " + limit.reason()
                    + "; stop what it protects, close every lease of it, then acquire afresh");
        }
    }

    @Override
    public void onLost(Runnable listener) {
        hold.onLost(listener);
        var unused = overdue.thenRun(listener);
    }

    @Override
    public void release() {
        end(false);
    }

    @Override
    public void releaseInBackground() {
        end(true);
    }

    private void end(boolean inBackground) {
        if (end.compareAndSet(null, LeaseState.RELEASED)) {
            if (limit != null) {
                limit.end();
            }
            try {
                giveBack(inBackground);
            } finally {
                if (observed != null) {
                    observed.onReleased();
                }
            }
        }
    }

    private void giveBack(boolean inBackground) {
        if (inBackground) {
            hold.releaseInBackground();
        } else {
            hold.release();
        }
    }

    @Override
    public CompletableFuture<Void> released() {
        return hold.released();
    }

    @Override
    public Map<String, Long> fencingTokens() {
        return hold.fencingTokens();
    }

    @Override
    public List<Op> guards() {
        return hold.guards();
    }

    @Override
    public void verify() throws InterruptedException {
        hold.verify();
    }

    @Override
    public void onRevocationRequested(Consumer<RevocationRequest> listener) {
        hold.onRevocationRequested(listener);
    }

    @Override
    public String toString() {
        return hold.toString();
    }
}
