// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.micrometer;

import io.micrometer.core.instrument.Meter;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A meter that is registered at its first use, and again if the application has removed it. Thread-safe. */
final class LastingMeter<M extends Meter> {
    private final RegistryMeters meters;
    private final String name;
    private final Supplier<M> registration;
    private volatile @Nullable Registered<M> registered;

    /** The outcome of a registration: the meter, or null if it could not be registered. */
    private record Registered<M extends Meter>(@Nullable M meter) {}

    LastingMeter(RegistryMeters meters, String name, Supplier<M> registration) {
        this.meters = meters;
        this.name = name;
        this.registration = registration;
    }

    /** Registers the meter unless it is registered already. */
    void show() {
        var unused = meter();
    }

    /** Passes the meter to {@code count}. Does nothing if the meter could not be registered. */
    void update(Consumer<? super M> count) {
        M meter = meter();
        if (meter != null) {
            count.accept(meter);
        }
    }

    private @Nullable M meter() {
        Registered<M> present = registered;
        return (present != null ? present : register()).meter();
    }

    /**
     * Registers the meter. Only one thread at a time does so, because Micrometer warns of a gauge that is registered
     * twice.
     */
    private synchronized Registered<M> register() {
        Registered<M> present = registered;
        if (present != null) {
            return present;
        }
        long removals = meters.removals();
        Registered<M> made = tryToRegister();
        registered = made;
        if (meters.removals() != removals) {
            registered = null; // the application may have removed it before this field was set
        }
        return made;
    }

    private Registered<M> tryToRegister() {
        try {
            return new Registered<>(registration.get());
        } catch (RuntimeException e) {
            meters.leaveOut(name, e);
            return new Registered<>(null);
        }
    }

    /**
     * Forgets a meter that the application has removed, or that could not be registered, so that its next use registers
     * it. The registry calls this while it holds a lock of its own, so this method must not wait for another lock.
     */
    void onRemoved(Meter removed) {
        Registered<M> present = registered;
        if (present != null && (present.meter() == null || present.meter() == removed)) {
            registered = null;
        }
    }
}
