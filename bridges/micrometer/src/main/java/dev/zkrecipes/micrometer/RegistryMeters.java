// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.micrometer;

import dev.zkrecipes.core.ConnectionState;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The meters of one registry, shared by all its observers: a registry keeps only the first gauge of a name, and refers
 * to the values of that gauge weakly. This object lives as long as the registry, to which it listens. Thread-safe.
 */
final class RegistryMeters {
    private static final String CLIENTS = "zkrecipes.clients";
    private static final Logger log = LoggerFactory.getLogger(RegistryMeters.class);

    /** Keys and values are weak: the meters refer to the registry, and must not keep it alive. */
    private static final Map<MeterRegistry, WeakReference<RegistryMeters>> ALL = new WeakHashMap<>();

    private final MeterRegistry registry;
    private final ConcurrentMap<Tags, NamedMeters> named = new ConcurrentHashMap<>();
    private final Queue<LastingMeter<?>> all = new ConcurrentLinkedQueue<>();
    private final AtomicLong removals = new AtomicLong();
    private final Set<String> leftOut = ConcurrentHashMap.newKeySet();
    private final Set<Supplier<ConnectionState>> clients = ConcurrentHashMap.newKeySet();
    private final List<LastingMeter<Gauge>> states;

    private RegistryMeters(MeterRegistry registry) {
        this.registry = registry;
        this.states = Stream.of(ConnectionState.values())
                .filter(state -> state != ConnectionState.CLOSED)
                .map(this::clientsIn)
                .toList();
    }

    private LastingMeter<Gauge> clientsIn(ConnectionState state) {
        return lasting(
                CLIENTS,
                () -> Gauge.builder(CLIENTS, () -> countClients(state))
                        .description("Clients of ZooKeeper, by the state of their connection")
                        .tag("state", state.name().toLowerCase(Locale.ROOT))
                        .register(registry));
    }

    private long countClients(ConnectionState state) {
        forgetClosed();
        return clients.stream().filter(client -> client.get() == state).count();
    }

    private void forgetClosed() {
        clients.removeIf(client -> client.get() == ConnectionState.CLOSED);
    }

    /** Counts a client in the gauges of states until it is closed. */
    void add(Supplier<ConnectionState> client) {
        forgetClosed(); // also here, because the gauges may never be read
        clients.add(client);
        showClients();
    }

    private void showClients() {
        if (!clients.isEmpty()) {
            states.forEach(LastingMeter::show);
        }
    }

    static RegistryMeters of(MeterRegistry registry) {
        synchronized (ALL) {
            WeakReference<RegistryMeters> known = ALL.get(registry);
            RegistryMeters present = known == null ? null : known.get();
            if (present == null) {
                present = new RegistryMeters(registry);
                registry.config().onMeterRemoved(present::onRemoved);
                ALL.put(registry, new WeakReference<>(present));
            }
            return present;
        }
    }

    /** Returns the meters of a name and kind, or the common meters of all others if there are too many. */
    NamedMeters named(Tags tags) {
        showClients();
        NamedMeters present = named.get(tags);
        if (present != null) {
            return present;
        }
        Tags bounded = named.size() < LockMetrics.MOST ? tags : Tags.of("name", "other", "kind", "other");
        return named.computeIfAbsent(bounded, key -> new NamedMeters(this, registry, key));
    }

    /** Returns a meter that is not registered yet. */
    <M extends Meter> LastingMeter<M> lasting(String name, Supplier<M> registration) {
        LastingMeter<M> meter = new LastingMeter<>(this, name, registration);
        all.add(meter);
        return meter;
    }

    /** Returns how many meters have been removed from the registry so far. */
    long removals() {
        return removals.get();
    }

    private void onRemoved(Meter removed) {
        removals.incrementAndGet();
        all.forEach(meter -> meter.onRemoved(removed));
    }

    void leaveOut(String name, RuntimeException why) {
        if (leftOut.add(name)) {
            log.warn(
                    "The meter {} is left out, as it cannot be registered ({}). All other meters of locks are there. Rename"
                            + " the application's meter of that name, or this one by a MeterFilter.",
                    name,
                    why.toString());
        }
    }
}
