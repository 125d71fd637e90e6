// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Makes one worker hold and idle, kills it, and watches which worker takes over. For one thread. */
final class KillPlan {
    /** How long the victim is seen to idle. */
    static final Duration IDLE = Duration.ofMillis(700);

    private final Direction direction;
    private final int victim;
    private final long askAt;

    private Phase phase = Phase.PLANNED;
    private @Nullable Grant held;
    private @Nullable Grant intruder;
    private @Nullable Grant heir;
    private long killedAt;
    private long takenOverAt;

    /** How far it has come. */
    enum Phase {
        PLANNED,
        ASKED,
        IDLING,
        KILLED,
        TAKEN_OVER
    }

    KillPlan(Direction direction, int victim, long askAt) {
        this.direction = direction;
        this.victim = victim;
        this.askAt = askAt;
    }

    Phase phase() {
        return phase;
    }

    int victim() {
        return victim;
    }

    long killedAt() {
        return killedAt;
    }

    long takenOverAt() {
        return takenOverAt;
    }

    void at(long now) {
        if (phase == Phase.PLANNED && now - askAt >= 0) {
            direction.order(victim, Order.IDLE);
            phase = Phase.ASKED;
        } else if (phase == Phase.IDLING && held != null && now - held.nanos() >= IDLE.toNanos()) {
            direction.kill(victim);
            killedAt = now;
            phase = Phase.KILLED;
        }
    }

    void on(Arrival arrival) {
        Event event = arrival.event();
        if (phase == Phase.ASKED && event.kind() == Event.Kind.IDLING && event.worker() == victim) {
            held = Grant.of(arrival);
            phase = Phase.IDLING;
        } else if (event.kind() == Event.Kind.GRANTED && held != null) {
            onLater(Grant.of(arrival), held);
        }
    }

    /** A grant of an earlier holder may arrive late, and proves nothing. */
    private void onLater(Grant grant, Grant victims) {
        if (grant.worker() == victim || grant.token() < victims.token()) {
            return;
        }
        boolean whileItLived = phase == Phase.IDLING || grant.nanos() - killedAt < 0;
        if (whileItLived && intruder == null) {
            intruder = grant;
        } else if (!whileItLived && phase == Phase.KILLED) {
            heir = grant;
            takenOverAt = grant.nanos();
            phase = Phase.TAKEN_OVER;
        }
    }

    /** The result; empty if nobody was killed. */
    Optional<TakeOver> outcome() {
        return held == null || phase.compareTo(Phase.KILLED) < 0
                ? Optional.empty()
                : Optional.of(new TakeOver(held, killedAt, Optional.ofNullable(intruder), Optional.ofNullable(heir)));
    }
}
