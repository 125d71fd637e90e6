// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A fault that a {@link FaultProxy} was told to make once, when a certain packet comes by. Instances are thread-safe.
 *
 * <p>A fault that cannot happen any more is given up: because the proxy was closed, because it was {@linkplain
 * #disarm() disarmed}, or because the connection ended between its request and the reply that it waited for.
 */
public final class Fault {
    private final Kind kind;
    private final @Nullable RequestType type;
    private final String what;
    private final ProxyControls controls;
    private final CompletableFuture<Void> fired = new CompletableFuture<>();
    private int left;
    private volatile boolean released;

    /** What is done to the packet. Replies are counted by their requests: only those tell their type. */
    enum Kind {
        DROP_REQUEST,
        HOLD_REQUEST,
        DROP_REPLY,
        HOLD_REPLY,
        DROP_EVENT,
        HOLD_EVENT;

        boolean isOnRequest() {
            return this == DROP_REQUEST || this == HOLD_REQUEST;
        }

        boolean isHold() {
            return this == HOLD_REQUEST || this == HOLD_REPLY || this == HOLD_EVENT;
        }
    }

    /**
     * A fault.
     *
     * @param type of the request; null for an event
     * @param what completes "did not see ..."
     */
    Fault(Kind kind, @Nullable RequestType type, int nth, String what, ProxyControls controls) {
        if (nth < 1) {
            throw new IllegalArgumentException("packets are counted from 1, not " + nth);
        }
        this.kind = kind;
        this.type = type;
        this.left = nth;
        this.what = what;
        this.controls = controls;
    }

    Kind kind() {
        return kind;
    }

    /** Takes note of a request, or with null of an event; returns whether it is the one. */
    boolean countDown(@Nullable RequestType passing) {
        return type == passing && --left == 0;
    }

    void fire() {
        fired.complete(null);
    }

    void giveUp(String reason) {
        fired.completeExceptionally(new IllegalStateException(what + " did not happen: " + reason));
    }

    /** {@return whether the packet is lost and, for a fault that cuts, the connection closed} */
    public boolean hasFired() {
        return fired.isDone() && !fired.isCompletedExceptionally();
    }

    /**
     * {@return a future that is completed when the fault has happened, exceptionally with {@link
     * IllegalStateException} when it is given up}
     */
    public CompletableFuture<Void> fired() {
        return fired.copy();
    }

    /**
     * Waits until the fault has happened.
     *
     * @param limit how long to wait
     * @throws AssertionError if it has not happened within that time or is given up
     * @throws InterruptedException if the thread is interrupted
     */
    public void awaitFired(Duration limit) throws InterruptedException {
        try {
            fired.get(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new AssertionError(what + " did not happen within " + limit.toMillis() + " ms", e);
        } catch (ExecutionException e) {
            Throwable reason = Objects.requireNonNullElse(e.getCause(), e);
            throw new AssertionError(reason.getMessage(), reason);
        }
    }

    /** Takes the fault back if it has not happened yet. */
    public void disarm() {
        controls.disarm(this);
    }

    /** Lets the packet continue that this stops. */
    void release() {
        released = true;
    }

    boolean isReleased() {
        return released;
    }

    String what() {
        return what;
    }

    @Override
    public String toString() {
        return what + (hasFired() ? " (happened)" : " (not yet)");
    }
}
