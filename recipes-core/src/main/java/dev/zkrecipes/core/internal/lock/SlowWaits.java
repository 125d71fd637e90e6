// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.internal.node.LockLog;
import dev.zkrecipes.core.internal.queue.LockGroup;
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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/**
 * Finds the requests of one client that wait for long: observers are told once of each, and once a minute for each lock
 * the server is asked for the queue and the holders, and a warning logged. Thread-safe.
 */
public final class SlowWaits implements LockObserver {
    static final Duration PERIOD = Duration.ofSeconds(1);
    private static final long PAUSE = Duration.ofMinutes(1).toNanos();
    private static final String CANDIDATE = "latch-"; // for leadership: it stands by
    private static final int NAMED = 3; // holders, in a warning

    private final long after;
    private final Set<Wait> waits = ConcurrentHashMap.newKeySet(); // some of which may be over
    private final AtomicBoolean armed = new AtomicBoolean();
    private final Map<String, Long> warnedAt = new HashMap<>(); // by path; on the engine thread

    /** A request; it tells observers when that is called for the first time. */
    record Wait(LockHost client, LockGroup group, long askedAt, BooleanSupplier isOver, Runnable tellOnce) {}

    public SlowWaits(Duration after) {
        this.after = TimeUnit.NANOSECONDS.convert(after); // at most 292 years
    }

    /** Requests come by {@link #add}. */
    @Override
    public Progress onWaiting(Request request) {
        return new Progress() {};
    }

    void add(Wait wait) {
        if (!wait.group.all().get(0).kind().equals(CANDIDATE)) {
            waits.add(wait);
            arm(wait.client);
        }
    }

    private void arm(LockHost client) {
        if (!armed.get() && armed.compareAndSet(false, true)) {
            client.scheduler().schedule(PERIOD, () -> look(client));
        }
    }

    private void look(LockHost client) {
        armed.set(false); // first: what is added from now on arms it
        long now = client.scheduler().nanoTime();
        warnedAt.values().removeIf(at -> now - at >= PAUSE);
        waits.removeIf(wait -> wait.isOver.getAsBoolean());
        waits.stream()
                .filter(wait -> now - wait.askedAt >= after)
                .sorted(Comparator.comparingLong(wait -> wait.askedAt - now))
                .forEach(wait -> {
                    wait.tellOnce.run();
                    wait.group.all().forEach(spec -> warn(wait, spec, now));
                });
        if (!waits.isEmpty()) {
            arm(client);
        }
    }

    private void warn(Wait wait, LockSpec spec, long now) {
        boolean isConnected = wait.client.connectionState() == ConnectionState.CONNECTED; // if not, that is warned of
        if (isConnected && warnedAt.putIfAbsent(spec.path(), now) == null) {
            ParticipantQuery query = new ParticipantQuery(wait.client, spec, true, NAMED + 1);
            Completion.on(query.launch(), (holders, failure) -> {
                // Without a place, it waits behind a holder of this process, or is granted by now.
                if (holders == null
                        || !query.place.isEmpty()
                        || (wait.group.isSingle() && !wait.isOver.getAsBoolean())) {
                    String seen = holders == null ? String.valueOf(failure) : query.place + "held by " + names(holders);
                    LockLog.slow(spec.path(), Duration.ofNanos(now - wait.askedAt), seen);
                }
            });
        }
    }

    private static String names(List<SeenParticipant> holders) {
        return holders.isEmpty()
                ? "nobody"
                : holders.stream()
                        .limit(NAMED)
                        .map(SeenParticipant::participant)
                        .map(holder -> holder.owner() + " (node " + Printable.of(holder.node()) + ", "
                                + holder.age().toSeconds() + " s old)")
                        .collect(Collectors.joining(", ", "", holders.size() > NAMED ? ", and others" : ""));
    }
}
