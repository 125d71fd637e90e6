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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The holds of one client: one record for each thread that holds anything, through whichever lock objects, and one for
 * the leases that belong to no thread. A lock object that any thread may use has a record of its own, which is not in
 * the table. A foreign lock without a client has a table of its own.
 *
 * <p>The table also warns when a request waits for a lock whose thread has died. Such a lock stays held, and nothing
 * else would show why. Thread-safe.
 */
public final class LockDataTable {
    private static final Logger log = LoggerFactory.getLogger(LockDataTable.class);

    // A thread adds and removes only its own record. The record of a dead thread is removed when its last hold is
    // closed, or by the check for dead owners.
    private final Map<Thread, LockData> ofThreads = new ConcurrentHashMap<>();
    private final Consumer<LockData> forget = this::forget;
    private final LockData ofNobody = LockData.ofNobody();
    private final Collection<SessionTask> requests; // open requests of the engine
    private final Queue<LockGroup> foreign = new ConcurrentLinkedQueue<>(); // requests unknown to the engine
    private final LongSupplier clock;
    private final AtomicBoolean looking = new AtomicBoolean(); // whether a requesting thread checks for dead owners

    /** The collection of requests may change at any time, as requests begin and end. */
    public LockDataTable(Collection<SessionTask> requests, LongSupplier clock) {
        this.requests = requests;
        this.clock = clock;
    }

    /** Returns the calling thread's record; null if it has none, and so holds nothing. */
    @Nullable
    public LockData mine() {
        return ofThreads.get(Thread.currentThread());
    }

    /** Returns the calling thread's record, and creates it if there is none. */
    public LockData mineToOpen() {
        return ofThreads.computeIfAbsent(Thread.currentThread(), owner -> LockData.ofThread(owner, clock, forget));
    }

    /** Returns the record of leases that belong to no thread. */
    public LockData ofNobody() {
        return ofNobody;
    }

    /** Returns a new record for a lock object that any thread may use. */
    public LockData ofInstance() {
        return LockData.ofInstance(clock);
    }

    /** Drops the record of a thread, unless the thread has another one by now. */
    private void forget(LockData useless) {
        Thread owner = useless.owner;
        if (owner != null) {
            ofThreads.remove(owner, useless);
        }
    }

    /** Whether one thread of this process, or asynchronous leases, hold all of these locks. */
    public boolean isHeld(LockGroup group) {
        return ofNobody.holds(group) || ofThreads.values().stream().anyMatch(data -> data.holds(group));
    }

    public Collection<LockData> ofThreads() {
        return ofThreads.values();
    }

    // ---- Dead owners.

    /**
     * Records a request for a lock that somebody else has implemented. The engine does not run such requests, so the
     * lock's adapter reports when they begin and end.
     */
    public void beginWait(LockGroup group) {
        foreign.add(group);
    }

    /** Called when a request for a foreign lock has ended, granted or not. */
    public void endWait(LockGroup group) {
        foreign.remove(group);
    }

    /**
     * Checks whether a request waits for a lock that a dead thread of this process holds, and warns about each such
     * lock once. Called on each beat of a session, so one check serves all waiting requests. While no owner is dead,
     * the cost does not grow with the number of requests. Call on one thread at a time.
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

    /**
     * Checks for dead owners when a request begins. This is for a table without a client, which has no session whose
     * beat could do it. If another thread is checking at this moment, that check counts for this request, too: all
     * requests of such a table are for the same lock.
     */
    public void lookForDeadOwnersNow() {
        if (looking.compareAndSet(false, true)) {
            try {
                lookForDeadOwners();
            } finally {
                looking.set(false);
            }
        }
    }

    /**
     * Drops the record of a dead thread if it holds nothing, or warns about those of its locks that somebody waits for.
     */
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
