// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What a server is started with, checked. */
record ServerSettings(
        Duration tickTime,
        Duration minSessionTimeout,
        Duration maxSessionTimeout,
        Duration containerCheckInterval,
        boolean fsync,
        @Nullable Path dataDirectory) {

    static final ServerSettings DEFAULTS = new ServerSettings(
            Duration.ofMillis(500), Duration.ofSeconds(1), Duration.ofSeconds(60), Duration.ofSeconds(60), false, null);

    ServerSettings {
        requirePositive("tickTime", tickTime);
        requirePositive("minSessionTimeout", minSessionTimeout);
        requirePositive("containerCheckInterval", containerCheckInterval);
        if (maxSessionTimeout.compareTo(minSessionTimeout) < 0) {
            throw new IllegalArgumentException("maxSessionTimeout " + maxSessionTimeout
                    + " is shorter than minSessionTimeout " + minSessionTimeout);
        }
        requirePositive("maxSessionTimeout", maxSessionTimeout);
    }

    private static void requirePositive(String name, Duration value) {
        if (value.compareTo(Duration.ofMillis(1)) < 0 || value.compareTo(Duration.ofMillis(Integer.MAX_VALUE)) > 0) {
            throw new IllegalArgumentException(name + " must be 1 ms to " + Integer.MAX_VALUE + " ms, was " + value);
        }
    }
}
