// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.internal.acquire.Acquisition;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns when a request waits for a lock that a thread of this process died with, once for each thread and lock; and of
 * a lock that nobody can give back because its lease was dropped. It looks once a second for all requests of a client,
 * and a last time after them; while there are none, it does not look.
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
        warnOfDropped();
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

    private void warnOfDropped() {
        for (Reference<?> next = table.dropped().poll();
                next != null;
                next = table.dropped().poll()) {
            if (next instanceof AsyncLease.Dropped lease && lease.hold().isStanding()) {
                log.warn(
                        "The lock {} of {} is held by a lease of acquireAsync that nobody references any more, so nobody can"
                                + " close it. The lock stays held until the client is closed. Close the lease in a stage that"
                                + " follows the future itself, whatever becomes of other stages.",
                        lease.hold().path(),
                        lease.hold().origin().client().ownerLabel());
            }
        }
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
