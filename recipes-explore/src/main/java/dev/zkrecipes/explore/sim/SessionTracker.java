// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongConsumer;
import org.apache.zookeeper.KeeperException.Code;

/**
 * The leader's clocks for all sessions. Traffic of its own clients advances a clock at once. A follower reports pings
 * and other traffic only when the leader pings it, every half tick, and the report advances the clocks. Writes that a
 * follower forwards do not advance them. A session ends at the first tick after its time-out has elapsed.
 */
final class SessionTracker {
    private final Simulation simulation;
    private final long tick;
    private final LongConsumer onExpired;
    private final Map<Long, Clock> clocks = new HashMap<>();
    private boolean stopped;

    private static final class Clock {
        private final long timeout;
        private int owner; // the server to which the session is connected
        private long expiresAt;
        private boolean ending; // the transaction that ends the session is pending

        Clock(long timeout, int owner) {
            this.timeout = timeout;
            this.owner = owner;
        }
    }

    SessionTracker(Simulation simulation, long tick, LongConsumer onExpired) {
        this.simulation = simulation;
        this.tick = tick;
        this.onExpired = onExpired;
    }

    void add(long session, long timeout, int owner) {
        Clock clock = new Clock(timeout, owner);
        clocks.put(session, clock);
        wind(clock);
        watch(session, clock);
    }

    private void wind(Clock clock) {
        clock.expiresAt = ((simulation.now() + clock.timeout) / tick + 1) * tick;
    }

    private void watch(long session, Clock clock) {
        simulation.plan(clock.expiresAt, () -> {
            if (stopped || clocks.get(session) != clock || clock.ending) {
                return;
            }
            if (simulation.now() < clock.expiresAt) {
                watch(session, clock);
            } else {
                clock.ending = true;
                onExpired.accept(session);
            }
        });
    }

    void touch(long session) {
        Clock clock = clocks.get(session);
        if (clock != null && !clock.ending) {
            wind(clock);
        }
    }

    /**
     * Resumes a session for a client, perhaps at another server, and starts its time-out again. Returns whether the
     * session is alive.
     */
    boolean revalidate(long session, int owner) {
        Clock clock = clocks.get(session);
        if (clock == null || clock.ending) {
            return false;
        }
        clock.owner = owner;
        wind(clock);
        return true;
    }

    /** Returns OK if requests of the session may come through that server; otherwise the reason why not. */
    Code check(long session, int server) {
        Clock clock = clocks.get(session);
        if (clock == null || clock.ending) {
            return Code.SESSIONEXPIRED;
        }
        return clock.owner == server ? Code.OK : Code.SESSIONMOVED;
    }

    /** Begins to end a session, whose requests are refused from then on. Returns whether it was alive. */
    boolean startEnding(long session) {
        Clock clock = clocks.get(session);
        if (clock == null || clock.ending) {
            return false;
        }
        clock.ending = true;
        return true;
    }

    void ended(long session) {
        clocks.remove(session);
    }

    /** Takes over the sessions of the previous leader. The time-out of each session starts again. */
    void goOnFrom(SessionTracker old) {
        List<Long> sessions = new ArrayList<>(old.clocks.keySet());
        sessions.sort(null);
        for (long session : sessions) {
            Clock clock = old.clocks.get(session);
            if (clock != null) {
                add(session, clock.timeout, clock.owner);
            }
        }
    }

    void stop() {
        stopped = true;
    }
}
