// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import dev.zkrecipes.core.Deadlock;
import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.LockObserver.Ending;
import dev.zkrecipes.core.LockObserver.Progress;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.thread.Callbacks;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports one request, and the hold that it leads to, to the observers of the client and to the log. Each event is
 * reported once. No such object exists for a request that nobody observes.
 *
 * <p>Observers run on the thread on which an event happens, so that tracing finds the caller's context: the thread that
 * requests the lease, gets it, or releases it. A slow request and a loss are noticed on other threads, and are reported
 * through {@link Callbacks}. An exception from an observer is logged, and does not affect the lock. Methods may be
 * called from any thread.
 */
public final class ObservedRequest implements Held.Observer {
    private static final Logger log = LoggerFactory.getLogger(ObservedRequest.class);

    private enum State {
        WAITING,
        HELD,
        OVER
    }

    private final LockGroup group;
    private final long askedAt; // by the clock of the client
    private final EngineScheduler clock;
    private final Callbacks callbacks;
    private final LockObserver.Request request;
    private final List<Progress> observers = new ArrayList<>(1);
    private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);
    private final AtomicInteger standing = new AtomicInteger(); // number of parts of the grant not yet released
    private volatile long grantedAt;
    private boolean isSlow; // whether a long wait was reported; confined to the engine thread

    public ObservedRequest(List<LockObserver> told, EngineScheduler clock, Callbacks callbacks, LockGroup group) {
        this.clock = clock;
        this.callbacks = callbacks;
        this.group = group;
        this.request = new LockObserver.Request(group.path(), group.options().name(), kindOf(group));
        this.askedAt = clock.nanoTime();
        if (LockLog.isForRequests()) {
            add(LockLog.REQUESTS);
        }
        told.forEach(this::add);
    }

    public LockGroup group() {
        return group;
    }

    /** Returns when the request began, by the clock of the client. */
    public long askedAt() {
        return askedAt;
    }

    private static String kindOf(LockGroup group) {
        return group.isSingle()
                ? group.all().get(0).kind()
                : group.all().stream().map(LockSpec::kind).distinct().collect(Collectors.joining(","));
    }

    /**
     * Notifies an observer that the request begins. An observer that throws here gets no further events of the request.
     */
    private void add(LockObserver observer) {
        guarded(() -> observers.add(observer.onWaiting(request)));
    }

    public boolean isWaiting() {
        return state.get() == State.WAITING;
    }

    /** Reports, only once, that the request has waited for long. Call only on the engine thread. */
    public void tellSlow() {
        if (!isSlow) {
            isSlow = true;
            Duration waited = since(askedAt);
            callbacks.run(() -> {
                if (isWaiting()) { // it may have been granted before the executor ran this task
                    tell(observer -> observer.onSlow(waited));
                }
            });
        }
    }

    /** Reports that the request waits for itself, or may do so. Call only on the engine thread. */
    public void tellDeadlock(Deadlock deadlock) {
        callbacks.run(() -> {
            if (isWaiting()) {
                tell(observer -> observer.onDeadlock(deadlock));
            }
        });
    }

    /**
     * Reports that the request was granted. From now on its grant is observed, until its last part is released or any
     * part is lost.
     */
    void granted(Grant grant) {
        if (state.compareAndSet(State.WAITING, State.HELD)) {
            grantedAt = clock.nanoTime();
            standing.set(grant.size());
            Duration waited = since(askedAt);
            if (LockLog.isForRequests()) {
                guarded(() -> LockLog.granted(request, waited, grant.describe()));
            }
            tell(observer -> observer.onGranted(waited));
            grant.observe(this); // last, because the grant may have ended already, and reports that at once
        }
    }

    /** Reports that the request has ended in this way, unless it was granted. */
    public void over(Ending how) {
        if (state.compareAndSet(State.WAITING, State.OVER)) {
            Duration waited = since(askedAt);
            tell(observer -> observer.onAbandoned(waited, how));
        }
    }

    /** Reports that the request has failed with the exception that the caller gets, unless it was granted. */
    public void failed(Throwable why) {
        if (why instanceof InterruptedException) {
            over(Ending.INTERRUPTED);
        } else if (why instanceof CancellationException) {
            over(Ending.CANCELLED);
        } else if (state.compareAndSet(State.WAITING, State.OVER)) {
            Duration waited = since(askedAt);
            tell(observer -> observer.onFailed(waited, why));
        }
    }

    /** A part of the grant was released. The lock is released with the last part. */
    @Override
    public void onReleased() {
        if (standing.decrementAndGet() == 0 && state.compareAndSet(State.HELD, State.OVER)) {
            Duration held = since(grantedAt);
            Runnable released = () -> tell(observer -> observer.onReleased(held));
            if (clock.isEngineThread()) { // it closes a lease after a delay, and must not wait for an observer
                callbacks.run(released);
            } else {
                released.run();
            }
        }
    }

    /** A part of the grant was lost. The lock is lost with the first part. May be called on the engine thread. */
    @Override
    public void onLost(String reason) {
        if (state.compareAndSet(State.HELD, State.OVER)) {
            Duration held = since(grantedAt);
            callbacks.tellLoss(() -> tell(observer -> observer.onLost(held, reason)));
        }
    }

    @Override
    public void onRevocationRequested() {
        tell(Progress::onRevocationRequested);
    }

    private Duration since(long begin) {
        return Duration.ofNanos(clock.nanoTime() - begin);
    }

    private void tell(Consumer<Progress> what) {
        observers.forEach(observer -> guarded(() -> what.accept(observer)));
    }

    /**
     * Runs code of the application, and catches what it throws: an observer must not harm the request that it observes.
     */
    private static void guarded(Runnable call) {
        try {
            call.run();
        } catch (Throwable t) {
            log.warn("A lock observer failed; the lock is not affected. Fix the observer.", t);
        }
    }
}
