// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.internal.acquire.Acquisition;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns when a request waits for a lock that a thread of this process died with, once for each thread and lock. It
 * looks once a second for all requests of a client; while there are none, it does not look.
 */
public final class DeadOwnerCheck {
    private static final Logger log = LoggerFactory.getLogger(DeadOwnerCheck.class);

    /** Nothing depends on it, but people wait for the message. */
    static final Duration PERIOD = Duration.ofSeconds(1);

    private final LockDataTable table;
    private final Collection<Acquisition> requests;
    private final EngineScheduler scheduler;
    private volatile boolean armed; // written on the engine thread

    /**
     * Begins without a request.
     *
     * @param requests those that are under way; may change at any time
     */
    public DeadOwnerCheck(LockDataTable table, Collection<Acquisition> requests, EngineScheduler scheduler) {
        this.table = table;
        this.requests = requests;
        this.scheduler = scheduler;
    }

    /** A request has begun. Any thread. */
    public void begin() {
        if (!armed) {
            scheduler.execute(this::arm);
        }
    }

    private void arm() {
        if (!armed) {
            scheduler.schedule(PERIOD, this::look);
            armed = true;
        }
    }

    private void look() {
        armed = false; // before the requests are looked at: one that comes after that arms it itself
        if (requests.isEmpty()) {
            return;
        }
        List<LockData> orphaned =
                table.ofThreads().stream().filter(LockData::isOrphaned).toList();
        if (!orphaned.isEmpty()) {
            Set<String> waitedFor = requests.stream()
                    .flatMap(request -> request.paths().stream())
                    .collect(Collectors.toSet());
            orphaned.forEach(data -> look(data, waitedFor));
        }
        arm();
    }

    private void look(LockData data, Set<String> waitedFor) {
        if (data.isForgettable()) {
            table.forget(data);
            return;
        }
        for (String lock : data.notYetWarnedOf(waitedFor)) {
            log.warn(
                    "Thread {} ended while it held the lock {}. The lock stays held until its leases are closed,"
                            + " which any thread may now do, or until the client is closed. Close leases with try-with-resources.",
                    data.ownerName(),
                    lock);
        }
    }
}
