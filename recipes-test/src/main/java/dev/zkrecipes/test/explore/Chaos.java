// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.explore;

import dev.zkrecipes.test.sim.Choices;
import dev.zkrecipes.test.sim.SimulatedZooKeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Faults, one after the other, until there were enough of them. */
final class Chaos {
    private static final int MILLIS = 25;

    private final Schedule schedule;
    private final SimulatedZooKeeper ensemble;
    private final List<Fault> kinds;
    private int left;
    private long lastTrouble;

    Chaos(Schedule schedule, Set<Fault> kinds, int count) {
        this.schedule = schedule;
        this.ensemble = schedule.ensemble();
        this.kinds = List.copyOf(kinds).stream().sorted().toList();
        this.left = this.kinds.isEmpty() ? 0 : count;
        plan();
    }

    boolean isOver() {
        return left == 0 && !ensemble.isTroubled();
    }

    /** Also what a fault has left to heal by itself is over then. */
    boolean isOverFor(Duration time) {
        return isOver() && schedule.simulation().now() - lastTrouble > time.toNanos();
    }

    private Choices choices() {
        return schedule.simulation().choices();
    }

    private Duration duration(int bound) {
        return Duration.ofMillis((long) MILLIS * choices().skewed(bound));
    }

    private void plan() {
        if (left > 0) {
            schedule.simulation().after(duration(96), () -> {
                left--;
                strike();
                plan();
            });
        }
    }

    private void strike() {
        lastTrouble =
                schedule.simulation().now() + Schedule.SESSION.multipliedBy(2).toNanos();
        Actor victim = schedule.actors().get(choices().next(schedule.actors().size()));
        switch (kinds.get(choices().next(kinds.size()))) {
            case DISCONNECT -> victim.process().disconnect();
            case STALL -> victim.process().stall(longTime());
            case OUTAGE -> victim.process().cutOff(longTime());
            case PAUSE -> victim.scheduler().pause(longTime());
            case EXPIRY -> {
                schedule.judge().endedByOperator(victim.process().sessionId());
                ensemble.expire(victim.process().sessionId());
            }
            case CUT_FOLLOWER -> {
                if (!ensemble.isTroubled()) {
                    ensemble.cutFollower(choices().next(2), longTime());
                }
            }
            case DEPOSED_LEADER -> {
                if (!ensemble.isTroubled()) {
                    ensemble.deposeLeader(longTime());
                }
            }
            case DELETION -> onSomeNode(true);
            case CHANGE -> onSomeNode(false);
            case REAPING -> ensemble.reapContainers();
            case INTERRUPT -> schedule.interrupt();
            case CLOSE -> schedule.close(victim);
        }
    }

    /** Mostly shorter than a session time-out, and up to twice as long. */
    private Duration longTime() {
        return Schedule.SESSION.multipliedBy(choices().next(33)).dividedBy(16);
    }

    private void onSomeNode(boolean delete) {
        List<Place> nodes = new ArrayList<>(schedule.lockNodes());
        if (!nodes.isEmpty()) {
            boolean first = choices().chance(500); // it is likely to hold
            String path = nodes.get(first ? 0 : choices().next(nodes.size())).path();
            if (delete) {
                schedule.judge().deletedByOperator(path);
                ensemble.deleteNode(path);
            } else {
                ensemble.touchNode(path);
            }
        }
    }
}
