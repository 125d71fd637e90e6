// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.micrometer;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The meters of one name and kind. What the gauges show outlives them. Thread-safe. */
final class NamedMeters {
    private static final String PREFIX = "zkrecipes.lock.";

    private final RegistryMeters meters;
    private final MeterRegistry registry;
    private final Tags tags;
    private final AtomicInteger waiting = new AtomicInteger();
    private final AtomicInteger held = new AtomicInteger();
    private final LastingMeter<Gauge> waitingShown;
    private final LastingMeter<Gauge> heldShown;
    private final LastingMeter<Counter> timeouts;
    private final LastingMeter<Counter> losses;
    private final LastingMeter<Counter> revocations;
    private final ConcurrentMap<String, LastingMeter<Timer>> waits = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, LastingMeter<Timer>> holds = new ConcurrentHashMap<>();

    NamedMeters(RegistryMeters meters, MeterRegistry registry, Tags tags) {
        this.meters = meters;
        this.registry = registry;
        this.tags = tags;
        this.waitingShown = gauge("waiting", "Requests for locks that are under way", waiting);
        this.heldShown = gauge("held", "Locks that are held", held);
        this.timeouts = counter("timeouts", "Requests for locks that timed out");
        this.losses = counter("losses", "Locks that were lost while they were held");
        this.revocations = counter("revocations", "Requests to give a lock back that its holder heard of");
    }

    private LastingMeter<Gauge> gauge(String name, String description, AtomicInteger value) {
        return meters.lasting(
                PREFIX + name,
                () -> Gauge.builder(PREFIX + name, value, AtomicInteger::get)
                        .description(description)
                        .tags(tags)
                        .register(registry));
    }

    private LastingMeter<Counter> counter(String name, String description) {
        return meters.lasting(
                PREFIX + name,
                () -> Counter.builder(PREFIX + name)
                        .description(description)
                        .tags(tags)
                        .register(registry));
    }

    private LastingMeter<Timer> timer(String name, String description, String outcome) {
        return meters.lasting(
                PREFIX + name,
                () -> Timer.builder(PREFIX + name)
                        .description(description)
                        .tags(tags.and("outcome", outcome))
                        .register(registry));
    }

    /** Those that are there from the first request on, to show that nothing has happened. */
    private void show() {
        waitingShown.show();
        heldShown.show();
        timeouts.show();
        losses.show();
        revocations.show();
    }

    void beginWait() {
        waiting.incrementAndGet();
        show();
    }

    void endWait(String outcome, Duration waited) {
        waiting.decrementAndGet();
        waits.computeIfAbsent(
                        outcome, key -> timer("wait", "From the request for a lock to its grant or other end", key))
                .update(timer -> timer.record(waited));
        show();
    }

    void beginHold() {
        held.incrementAndGet();
    }

    void endHold(String outcome, Duration time) {
        held.decrementAndGet();
        holds.computeIfAbsent(outcome, key -> timer("hold", "From the grant of a lock to its release or loss", key))
                .update(timer -> timer.record(time));
        show();
    }

    void countTimeout() {
        timeouts.update(Counter::increment);
    }

    void countLoss() {
        losses.update(Counter::increment);
    }

    void countRevocation() {
        revocations.update(Counter::increment);
    }
}
