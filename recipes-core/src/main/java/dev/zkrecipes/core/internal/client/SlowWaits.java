// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.client;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.internal.acquire.Requests;
import dev.zkrecipes.core.internal.ask.ParticipantQuery;
import dev.zkrecipes.core.internal.hold.LockLog;
import dev.zkrecipes.core.internal.hold.ObservedRequest;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.thread.Completion;
import dev.zkrecipes.core.internal.wire.Printable;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Notifies observers once of each request that waits for long. The log warns once a minute about each lock that such a
 * request waits for. Requests may be added from any thread; the engine thread looks at them once a second while any
 * wait.
 *
 * <p>A warning names the holders, so it costs a query of the queue. The limit of one warning a minute applies to each
 * lock, however many requests wait for it.
 */
final class SlowWaits {
    private static final long PAUSE = Duration.ofMinutes(1).toNanos(); // between two warnings about one lock
    private static final int NAMED = 3; // how many holders a warning names

    private final long after; // nanoseconds
    private final Requests requests;
    private final ClientConnection connection;
    private final Set<ObservedRequest> waits = ConcurrentHashMap.newKeySet(); // some of which may have ended
    private final EverySecond looks;
    private final Map<Subject, Long> warnedAt = new HashMap<>(); // confined to the engine thread

    /** What a warning is about, at most once a minute: the holders of a lock, or a missing connection. */
    private record Subject(String path, boolean isConnected) {}

    SlowWaits(Duration after, Requests requests, ClientConnection connection) {
        this.after = TimeUnit.NANOSECONDS.convert(after); // at most 292 years
        this.requests = requests;
        this.connection = connection;
        this.looks = new EverySecond(requests.scheduler(), this::look);
    }

    /** Watches a request from its beginning, unless it stands by. The next look drops it if it has ended by then. */
    void add(ObservedRequest begun) {
        if (!begun.group().options().standsBy()) {
            waits.add(begun);
            looks.begin();
        }
    }

    private boolean look() {
        long now = requests.scheduler().nanoTime();
        warnedAt.values().removeIf(at -> now - at >= PAUSE);
        waits.removeIf(wait -> !wait.isWaiting());
        waits.stream()
                .filter(wait -> now - wait.askedAt() >= after)
                .sorted(Comparator.comparingLong(wait -> wait.askedAt() - now))
                .forEach(wait -> {
                    wait.tellSlow();
                    wait.group().all().forEach(spec -> warn(wait, spec, now));
                });
        return !waits.isEmpty();
    }

    /**
     * Warns about one lock of a request, unless there was a warning about it in the last minute. This is called for the
     * request with the longest wait first, so the log shows the longest wait.
     */
    private void warn(ObservedRequest wait, LockSpec spec, long now) {
        Duration waited = Duration.ofNanos(now - wait.askedAt());
        boolean isConnected = connection.state() == ConnectionState.CONNECTED;
        if (warnedAt.putIfAbsent(new Subject(spec.path(), isConnected), now) != null) {
            return;
        }
        if (!isConnected) {
            LockLog.slowWithoutAConnection(
                    spec.path(), waited, String.valueOf(connection.missing("").getMessage()));
        } else {
            ParticipantQuery query = ParticipantQuery.ofHolders(requests, spec, NAMED + 1);
            Completion.on(query.request().launch(), (holders, failure) -> {
                // A request without a place in the queue waits behind a holder of this process, or is granted by now.
                if (holders == null || !query.place().isEmpty() || (wait.group().isSingle() && wait.isWaiting())) {
                    String seen =
                            holders == null ? String.valueOf(failure) : query.place() + "held by " + names(holders);
                    LockLog.slow(spec.path(), waited, seen);
                }
            });
        }
    }

    private static String names(List<ParticipantQuery.Seen> holders) {
        return holders.isEmpty()
                ? "nobody"
                : holders.stream()
                        .limit(NAMED)
                        .map(ParticipantQuery.Seen::participant)
                        .map(holder -> holder.owner() + " (node " + Printable.of(holder.node()) + ", "
                                + holder.age().toSeconds() + " s old)")
                        .collect(Collectors.joining(", ", "", holders.size() > NAMED ? ", and others" : ""));
    }
}
