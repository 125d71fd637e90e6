// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.micrometer;

import dev.zkrecipes.core.LockObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Meters of the locks of one client or several:
 *
 * <table>
 * <caption>Meters</caption>
 * <tr><th>Name</th><th>Type</th><th>What it measures</th></tr>
 * <tr><td>{@code zkrecipes.lock.wait}</td><td>timer</td><td>requests, by how they ended: tag {@code outcome} is {@code granted},
 *     {@code busy}, {@code timed_out}, {@code interrupted}, {@code cancelled} or {@code failed}</td></tr>
 * <tr><td>{@code zkrecipes.lock.hold}</td><td>timer</td><td>holds; tag {@code outcome} is {@code released} or {@code lost}</td></tr>
 * <tr><td>{@code zkrecipes.lock.waiting}</td><td>gauge</td><td>requests under way</td></tr>
 * <tr><td>{@code zkrecipes.lock.held}</td><td>gauge</td><td>locks held</td></tr>
 * <tr><td>{@code zkrecipes.lock.timeouts}</td><td>counter</td><td>requests that timed out</td></tr>
 * <tr><td>{@code zkrecipes.lock.losses}</td><td>counter</td><td>locks lost while held</td></tr>
 * <tr><td>{@code zkrecipes.lock.revocations}</td><td>counter</td><td>requests to give a lock back that its holder heard of</td></tr>
 * </table>
 *
 * <p>Each has the tags {@code name}, which the application gives by {@link dev.zkrecipes.core.LockOptions#name(String)}, or {@code none}; and
 * {@code kind}, as in {@link dev.zkrecipes.core.Participant#kind()}. The path is not a tag, as there may be any number of them. After {@value
 * #MOST} pairs of name and kind, all others are counted as {@code other}.
 *
 * <pre>{@code
 * ZooKeeperClient client = ZooKeeperClient.builder().connectString(servers).observer(new LockMetrics(registry)).build();
 * }</pre>
 *
 * <p>Several observers may share a registry, one for each client: they count together. Instances are thread-safe.
 */
public final class LockMetrics implements LockObserver {
    /** How many pairs of name and kind have meters of their own. */
    public static final int MOST = 500;

    private static final String PREFIX = "zkrecipes.lock.";

    /**
     * What gauges show, for all observers of a registry: it takes only the first gauge of a name, and does not keep what
     * that shows.
     */
    private static final Map<MeterRegistry, ConcurrentMap<Tags, Levels>> LEVELS = new WeakHashMap<>();

    private final MeterRegistry registry;
    private final ConcurrentMap<Tags, Levels> levels;
    private final ConcurrentMap<Tags, OfOneName> known = new ConcurrentHashMap<>();

    /**
     * Makes an observer that registers its meters when they are first needed.
     *
     * @param registry where the meters are
     */
    public LockMetrics(MeterRegistry registry) {
        this.registry = Objects.requireNonNull(registry, "registry");
        synchronized (LEVELS) {
            this.levels = LEVELS.computeIfAbsent(registry, key -> new ConcurrentHashMap<>());
        }
    }

    /** Must not refer to the registry, whose life it would prolong. */
    private record Levels(AtomicInteger waiting, AtomicInteger held) {}

    @Override
    public Progress onWaiting(Request request) {
        Tags tags = Tags.of("name", request.name().orElse("none"), "kind", request.kind());
        OfOneName meters = known.get(tags);
        if (meters == null) {
            Tags bounded =
                    levels.containsKey(tags) || levels.size() < MOST ? tags : Tags.of("name", "other", "kind", "other");
            meters = known.computeIfAbsent(bounded, OfOneName::new);
        }
        return new Measured(meters);
    }

    private final class OfOneName {
        private final Tags tags;
        private final AtomicInteger waiting;
        private final AtomicInteger held;
        private final Counter timeouts;
        private final Counter losses;
        private final Counter revocations;

        OfOneName(Tags tags) {
            this.tags = tags;
            Levels shown = levels.computeIfAbsent(tags, key -> shown());
            this.waiting = shown.waiting();
            this.held = shown.held();
            this.timeouts = counter("timeouts", "Requests for locks that timed out");
            this.losses = counter("losses", "Locks that were lost while they were held");
            this.revocations = counter("revocations", "Requests to give a lock back that its holder heard of");
        }

        private Levels shown() {
            Levels made = new Levels(new AtomicInteger(), new AtomicInteger());
            gauge("waiting", "Requests for locks that are under way", made.waiting());
            gauge("held", "Locks that are held", made.held());
            return made;
        }

        private void gauge(String name, String description, AtomicInteger value) {
            Gauge.builder(PREFIX + name, value, AtomicInteger::get)
                    .description(description)
                    .tags(tags)
                    .register(registry);
        }

        private Counter counter(String name, String description) {
            return Counter.builder(PREFIX + name)
                    .description(description)
                    .tags(tags)
                    .register(registry);
        }

        void time(String name, String description, String outcome, Duration time) {
            Timer.builder(PREFIX + name)
                    .description(description)
                    .tags(tags.and("outcome", outcome))
                    .register(registry)
                    .record(time);
        }
    }

    private static final class Measured implements Progress {
        private final OfOneName meters;

        Measured(OfOneName meters) {
            this.meters = meters;
            meters.waiting.incrementAndGet();
        }

        @Override
        public void onGranted(Duration waited) {
            meters.held.incrementAndGet();
            endWait(waited, "granted");
        }

        @Override
        public void onAbandoned(Duration waited, Ending how) {
            if (how == Ending.TIMED_OUT) {
                meters.timeouts.increment();
            }
            endWait(waited, how.name().toLowerCase(Locale.ROOT));
        }

        private void endWait(Duration waited, String outcome) {
            meters.waiting.decrementAndGet();
            meters.time("wait", "From the request for a lock to its grant or other end", outcome, waited);
        }

        @Override
        public void onReleased(Duration held) {
            endHold(held, "released");
        }

        @Override
        public void onLost(Duration held, String reason) {
            meters.losses.increment();
            endHold(held, "lost");
        }

        private void endHold(Duration held, String outcome) {
            meters.held.decrementAndGet();
            meters.time("hold", "From the grant of a lock to its release or loss", outcome, held);
        }

        @Override
        public void onRevocationRequested() {
            meters.revocations.increment();
        }
    }
}
