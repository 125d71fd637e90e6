// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.Op;

/** Something held to whose release something happens first. No mock: Mockito makes each call of a Held take memory. */
public final class HeldWith extends Held {
    private final Held held;
    private final Runnable first;

    private HeldWith(Held held, Runnable first) {
        super(held.spec(), null);
        this.held = held;
        this.first = first;
    }

    public static Held beforeRelease(Held held, Runnable first) {
        return new HeldWith(held, first);
    }

    @Override
    public CompletableFuture<Void> release(boolean waits) {
        first.run();
        return held.release(waits);
    }

    @Override
    protected LeaseState standing() {
        return held.state();
    }

    @Override
    public void lose(String reason) {
        held.lose(reason);
    }

    @Override
    public boolean isLost() {
        return held.isLost();
    }

    @Override
    public boolean isKnownAsLost() {
        return held.isKnownAsLost();
    }

    @Override
    public boolean hasEnded() {
        return held.hasEnded();
    }

    @Override
    public LockLostException lost() {
        return held.lost();
    }

    @Override
    public Map<String, Long> tokens() {
        return held.tokens();
    }

    @Override
    public List<Op> guards() {
        return held.guards();
    }

    @Override
    public void attach(Listener only) {
        held.attach(only);
    }
}
