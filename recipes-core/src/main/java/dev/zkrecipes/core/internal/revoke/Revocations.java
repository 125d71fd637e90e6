// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.revoke;

import dev.zkrecipes.core.internal.session.SessionSource;
import dev.zkrecipes.core.internal.session.SessionTask;
import dev.zkrecipes.core.internal.thread.Backoff;
import dev.zkrecipes.core.internal.thread.Callbacks;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * What the requests of one client to other holders share: those under way are {@code open}. {@code requireOpenFor}
 * throws for the path of a lock if the client is closed. Thread-safe.
 */
public record Revocations(
        EngineScheduler scheduler,
        SessionSource sessions,
        Supplier<Backoff> newPace,
        Callbacks callbacks,
        Consumer<String> requireOpenFor,
        Set<SessionTask> open) {}
