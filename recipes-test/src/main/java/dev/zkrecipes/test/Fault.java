// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A fault that a {@link FaultProxy} causes once, when a certain packet passes. Instances are thread-safe.
 *
 * <p>The proxy gives up a fault that cannot happen any more: because the proxy was closed, because the fault was
 * {@linkplain #disarm() disarmed}, or because the connection ended after the request of the fault and before its
 * reply.
 */
public final class Fault {
    private final Kind kind;
    private final RequestType type;
    private final String what;
    private final ProxyControls controls;
    private final CompletableFuture<Void> fired = new CompletableFuture<>();
    private final AtomicBoolean decided = new AtomicBoolean(); // whether it happens or not
    private int left; // requests to count until the one that the fault affects
    private volatile boolean released;

    /** What happens to the packet. A fault on a reply counts requests, because only requests carry their type. */
    enum Kind {
        DROP_REQUEST,
        HOLD_REQUEST,
        DROP_REPLY,
        HOLD_REPLY;

        boolean isOnRequest() {
            return this == DROP_REQUEST || this == HOLD_REQUEST;
        }

        boolean isHold() {
            return this == HOLD_REQUEST || this == HOLD_REPLY;
        }
    }

    /**
     * Describes a fault.
     *
     * @param what begins messages such as "... did not happen"
     */
    Fault(Kind kind, RequestType type, int nth, String what, ProxyControls controls) {
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

    /** Counts a request, if it has the type of this fault. Returns whether it is the one that the fault affects. */
    boolean countDown(RequestType passing) {
        return type == passing && --left == 0;
    }

    /** Begins to happen. Returns false if the fault was given up meanwhile. Call {@link #fire} when it has happened. */
    boolean begin() {
        return decided.compareAndSet(false, true);
    }

    void fire() {
        fired.complete(null);
    }

    /** Gives the fault up, unless it has begun to happen. */
    void giveUp(String reason) {
        if (decided.compareAndSet(false, true)) {
            fired.completeExceptionally(new IllegalStateException(what + " did not happen: " + reason));
        }
    }

    /**
     * {@return whether the fault has happened} The packet is then lost or held, and a fault that cuts has closed the
     * connection.
     */
    public boolean hasFired() {
        return fired.isDone() && !fired.isCompletedExceptionally();
    }

    /**
     * {@return a future that completes when the fault has happened, and fails with {@link IllegalStateException} if
     * the fault is given up}
     */
    public CompletableFuture<Void> fired() {
        return fired.copy();
    }

    /**
     * Waits until the fault has happened.
     *
     * @param limit the longest time to wait
     * @throws AssertionError if the fault does not happen within that time, or is given up
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

    /** Cancels the fault if it has not happened yet. */
    public void disarm() {
        controls.disarm(this);
    }

    /** Lets the packet held by this fault continue. */
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
