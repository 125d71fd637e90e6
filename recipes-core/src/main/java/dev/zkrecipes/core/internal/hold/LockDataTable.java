// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.source.SessionTask;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All holds of one client: a record for each thread that holds anything, through whatever lock objects, and one for the
 * leases that belong to no thread. Thread-safe.
 */
public final class LockDataTable {
    private static final Logger log = LoggerFactory.getLogger(LockDataTable.class);

    // A thread adds and removes only its own record; the close of a dead thread's last hold, or the look, removes that
    // one.
    private final Map<Thread, LockData> ofThreads = new ConcurrentHashMap<>();
    private final Consumer<LockData> forget = this::forget;
    private final LockData ofNobody = LockData.ofNobody();
    private final Collection<SessionTask> requests;
    private final Queue<LockGroup> foreign = new ConcurrentLinkedQueue<>(); // what is waited for without the engine
    private final LongSupplier clock;

    /** The requests may change at any time. */
    public LockDataTable(Collection<SessionTask> requests, LongSupplier clock) {
        this.requests = requests;
        this.clock = clock;
    }

    /** Null if the calling thread holds nothing. */
    @Nullable
    public LockData mine() {
        return ofThreads.get(Thread.currentThread());
    }

    public LockData mineToOpen() {
        LockData known = mine();
        if (known != null) {
            return known;
        }
        LockData made = LockData.ofThread(Thread.currentThread(), clock, forget);
        ofThreads.put(Thread.currentThread(), made);
        return made;
    }

    /** The record of leases that belong to no thread. */
    public LockData ofNobody() {
        return ofNobody;
    }

    /** The record of a lock object that any thread may use. */
    public LockData ofInstance() {
        return LockData.ofInstance(clock);
    }

    private void forget(LockData useless) {
        Thread owner = useless.owner;
        if (owner != null) {
            ofThreads.remove(owner, useless);
        }
    }

    /** Whether a thread, or an asynchronous lease, holds all of these. */
    public boolean isHeld(LockGroup group) {
        return ofNobody.holds(group) || ofThreads.values().stream().anyMatch(data -> data.holds(group));
    }

    public Collection<LockData> ofThreads() {
        return ofThreads.values();
    }

    // ---- Owners that are gone.

    /** A request begins that the engine does not know. */
    public void beginWait(LockGroup group) {
        foreign.add(group);
    }

    public void endWait(LockGroup group) {
        foreign.remove(group);
    }

    /**
     * Looks whether somebody waits for what a thread of this process died with, and warns of each such lock once. One
     * look serves all who wait. On the engine thread.
     */
    public void lookForDeadOwners() {
        List<LockData> orphaned =
                ofThreads.values().stream().filter(LockData::isOrphaned).toList();
        if (orphaned.isEmpty()) {
            return;
        }
        Set<String> waitedFor = Stream.concat(
                        requests.stream().flatMap(request -> request.paths().stream()),
                        foreign.stream().map(LockGroup::path))
                .collect(Collectors.toSet());
        orphaned.forEach(data -> look(data, waitedFor));
    }

    /** Forgets the records of dead threads that hold nothing any more. Any thread. */
    public void forgetDeadOwners() {
        ofThreads.values().removeIf(LockData::isForgettable);
    }

    private void look(LockData data, Set<String> waitedFor) {
        if (data.isForgettable()) {
            forget(data);
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
