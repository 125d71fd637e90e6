// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The checked settings with which a server is started. {@code port} is 0 for a port that the operating system
 * chooses; {@code dataDirectory} is null for a temporary directory.
 */
record ServerSettings(
        Duration tickTime,
        Duration minSessionTimeout,
        Duration maxSessionTimeout,
        Duration containerCheckInterval,
        boolean fsync,
        int port,
        @Nullable Path dataDirectory) {

    private static final int LAST_PORT = 65_535;

    ServerSettings {
        requirePositive("tickTime", tickTime);
        requirePositive("minSessionTimeout", minSessionTimeout);
        requirePositive("containerCheckInterval", containerCheckInterval);
        if (maxSessionTimeout.compareTo(minSessionTimeout) < 0) {
            throw new IllegalArgumentException("maxSessionTimeout " + maxSessionTimeout
                    + " is shorter than minSessionTimeout " + minSessionTimeout);
        }
        requirePositive("maxSessionTimeout", maxSessionTimeout);
        if (port < 0 || port > LAST_PORT) {
            throw new IllegalArgumentException("port must be 0 to " + LAST_PORT + ", was " + port);
        }
    }

    private static void requirePositive(String name, Duration value) {
        if (value.compareTo(Duration.ofMillis(1)) < 0 || value.compareTo(Duration.ofMillis(Integer.MAX_VALUE)) > 0) {
            throw new IllegalArgumentException(name + " must be 1 ms to " + Integer.MAX_VALUE + " ms, was " + value);
        }
    }
}
