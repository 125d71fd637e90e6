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
 * What the requests of one client to other holders share. Thread-safe.
 *
 * @param newPace makes the pauses of one request
 * @param requireOpenFor throws if the client is closed; is given the path of the lock
 * @param open those that are under way; of any thread
 */
public record Revocations(
        EngineScheduler scheduler,
        SessionSource sessions,
        Supplier<Backoff> newPace,
        Callbacks callbacks,
        Consumer<String> requireOpenFor,
        Set<SessionTask> open) {}
