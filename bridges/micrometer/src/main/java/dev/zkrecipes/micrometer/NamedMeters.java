// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.micrometer;

import dev.zkrecipes.core.LockObserver.Progress;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;

/**
 * The meters of one name and kind. The values of the gauges are kept here even if the application removes the gauges.
 * Thread-safe.
 */
final class NamedMeters {
    private static final String PREFIX = "zkrecipes.lock.";

    private final RegistryMeters meters;
    private final MeterRegistry registry;
    private final Tags tags;
    private final Map<Progress, Long> waiting = new ConcurrentHashMap<>(); // with the time at which each began
    private final Map<Progress, Long> held = new ConcurrentHashMap<>();
    private final List<LastingMeter<? extends Gauge>> gauges;
    private final LastingMeter<Counter> timeouts;
    private final LastingMeter<Counter> losses;
    private final LastingMeter<Counter> revocations;
    private final ConcurrentMap<String, LastingMeter<Timer>> waits = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, LastingMeter<Timer>> holds = new ConcurrentHashMap<>();

    NamedMeters(RegistryMeters meters, MeterRegistry registry, Tags tags) {
        this.meters = meters;
        this.registry = registry;
        this.tags = tags;
        this.gauges = List.of(
                gauge("waiting", "Requests for locks that are under way", waiting),
                gauge("held", "Locks that are held", held),
                oldest("wait", "How long the oldest request has been under way", waiting),
                oldest("hold", "How long the oldest hold has lasted", held));
        this.timeouts = counter("timeouts", "Requests for locks that timed out");
        this.losses = counter("losses", "Locks that were lost while they were held");
        this.revocations = counter("revocations", "Requests to give a lock back that its holder heard of");
    }

    private LastingMeter<Gauge> gauge(String name, String description, Map<Progress, Long> goingOn) {
        return meters.lasting(
                PREFIX + name,
                () -> Gauge.builder(PREFIX + name, goingOn, Map::size)
                        .description(description)
                        .tags(tags)
                        .register(registry));
    }

    private LastingMeter<TimeGauge> oldest(String what, String description, Map<Progress, Long> goingOn) {
        String name = PREFIX + "oldest." + what;
        return meters.lasting(
                name,
                () -> TimeGauge.builder(name, goingOn, TimeUnit.NANOSECONDS, this::oldest)
                        .description(description)
                        .tags(tags)
                        .register(registry));
    }

    private long oldest(Map<Progress, Long> goingOn) {
        long now = registry.config().clock().monotonicTime();
        // At least 0, because one may have begun after now was read.
        return goingOn.values().stream().mapToLong(begin -> now - begin).reduce(0, Math::max);
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

    /** Registers the meters that exist from the first request on, to show that nothing has happened yet. */
    private void show() {
        gauges.forEach(LastingMeter::show);
        timeouts.show();
        losses.show();
        revocations.show();
    }

    void beginWait(Progress request) {
        waiting.put(request, registry.config().clock().monotonicTime());
        show();
    }

    void endWait(Progress request, String outcome, Duration waited) {
        waiting.remove(request);
        waits.computeIfAbsent(
                        outcome, key -> timer("wait", "From the request for a lock to its grant or other end", key))
                .update(timer -> timer.record(waited));
        show();
    }

    void beginHold(Progress hold) {
        held.put(hold, registry.config().clock().monotonicTime());
    }

    void endHold(Progress hold, String outcome, Duration time) {
        held.remove(hold);
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
