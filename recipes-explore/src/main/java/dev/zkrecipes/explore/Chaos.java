// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import dev.zkrecipes.explore.sim.Choices;
import dev.zkrecipes.explore.sim.NodeTree;
import dev.zkrecipes.explore.sim.SimulatedProcess;
import dev.zkrecipes.explore.sim.SimulatedZooKeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Causes faults, one after the other, until the planned number has been reached. */
final class Chaos {
    private static final int MILLIS = 25;
    private static final int TRIES = 40;
    private static final Duration LONGEST_WAIT_FOR_A_LOOK = Duration.ofSeconds(80);

    private final Schedule schedule;
    private final SimulatedZooKeeper ensemble;
    private final List<FaultKind> kinds;
    private int left; // faults still to be caused
    private int hunts; // searches for a waiter that have not ended
    private int traps; // traps to spring at the next releases in front of a waiter
    private int strangers; // strangers to come when a lease has been released
    private @Nullable Runnable onNextRequest; // the stranger that comes just before the next request
    private long lastTrouble; // when the effects of all faults so far will have ended

    Chaos(Schedule schedule, Set<FaultKind> kinds, int count) {
        this.schedule = schedule;
        this.ensemble = schedule.ensemble();
        this.kinds = List.copyOf(kinds).stream().sorted().toList();
        this.left = this.kinds.isEmpty() ? 0 : count;
        if (this.kinds.contains(FaultKind.STRANGER) && schedule.isInTurns()) {
            strangers = choices().next(3);
        }
        plan();
        if (this.kinds.contains(FaultKind.REAPING) && choices().next(2) == 1) {
            reapAgainAndAgain();
        }
    }

    private void reapAgainAndAgain() {
        schedule.simulation().after(Duration.ofMillis(MILLIS * (1L + choices().next(8))), () -> {
            if (!schedule.areActorsDone()) {
                ensemble.reapContainers();
                reapAgainAndAgain();
            }
        });
    }

    boolean isOver() {
        return left == 0 && hunts == 0 && !ensemble.isTroubled();
    }

    /** Whether all faults ended at least this long ago. By then, everything that recovers by itself has recovered. */
    boolean isOverFor(Duration time) {
        return isOver() && schedule.simulation().now() - lastTrouble > time.toNanos();
    }

    private Choices choices() {
        return schedule.simulation().choices();
    }

    private Duration duration(int bound) {
        return Duration.ofMillis((long) MILLIS * choices().skewed(bound));
    }

    private long healed() {
        return schedule.simulation().now() + Schedule.SESSION.multipliedBy(2).toNanos();
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
        lastTrouble = Math.max(lastTrouble, healed());
        Actor victim = schedule.actors().get(choices().next(schedule.actors().size()));
        switch (kind()) {
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
            case UNTOLD_DELETION -> deleteUntold();
            case LOST_PLACE -> {
                hunts++;
                hunt(TRIES);
            }
            case CHANGE -> onSomeNode(false);
            case REAPING -> ensemble.reapContainers();
            case STRANGER -> strangers++;
            case INTERRUPT -> schedule.interrupt();
            case CLOSE -> schedule.close(victim);
            case LOST_DATA -> victim.process().outliveData();
            case LATE_WRITE -> victim.process().disconnectHoldingBack(atMostATimeOut());
        }
    }

    /** Cuts a process off from all servers, just before it sends a request. */
    void cutOff(Actor victim) {
        if (left > 0 && kinds.contains(FaultKind.OUTAGE)) {
            lastTrouble = Math.max(lastTrouble, healed());
            victim.process().cutOff(longTime());
        }
    }

    /**
     * Chooses a kind of fault. A waiter that loses its place just before its turn puts an engine in most danger, so
     * that kind is chosen more often.
     */
    private FaultKind kind() {
        return kinds.contains(FaultKind.LOST_PLACE) && choices().chance(250)
                ? FaultKind.LOST_PLACE
                : kinds.get(choices().next(kinds.size()));
    }

    /** A random time of up to two session time-outs; shorter than one in half of the cases. */
    private Duration longTime() {
        return Schedule.SESSION.multipliedBy(choices().next(33)).dividedBy(16);
    }

    /** A random time of at most a session time-out: the engine relies on server threads not being paused for longer. */
    private Duration atMostATimeOut() {
        return Schedule.SESSION.multipliedBy(choices().next(17)).dividedBy(16);
    }

    /**
     * Waits until some request waits, and deletes its node. In half of the cases, does so only when the holder in front
     * of the waiter releases by itself.
     */
    private void hunt(int tries) {
        Optional<QueuedNode> front = schedule.lockNodes().stream()
                .filter(place -> !behind(place).isEmpty())
                .findFirst();
        if (front.isEmpty() && tries > 0) {
            schedule.simulation().after(Duration.ofMillis(MILLIS), () -> hunt(tries - 1));
            return;
        }
        hunts--;
        if (front.isPresent() && choices().chance(500)) {
            traps++;
        } else if (front.isPresent()) {
            takePlaceBehind(front.get());
            soon(() -> delete(front.get().path()));
        }
    }

    /** Called when a lease is being released, so its nodes are about to be deleted. */
    void onClosing(List<QueuedNode> nodes) {
        Optional<QueuedNode> front =
                nodes.stream().filter(place -> !behind(place).isEmpty()).findFirst();
        if (traps > 0 && front.isPresent()) {
            traps--;
            takePlaceBehind(front.get());
        } else if (strangers > 0 && !nodes.isEmpty() && choices().chance(300)) {
            QueuedNode model = nodes.get(choices().next(nodes.size()));
            ensemble.committed().data(model.path()).ifPresent(data -> {
                strangers--;
                if (choices().chance(500)) {
                    onNextRequest = () -> enter(model, data);
                } else {
                    hunts++;
                    awaitEmpty(model, data, TRIES);
                }
            });
        }
    }

    /**
     * Called when a process is about to send a request. What a stranger does now happens while that request is pending.
     */
    void onAsking() {
        Runnable next = onNextRequest;
        if (next != null) {
            onNextRequest = null;
            hunts++;
            next.run();
        }
    }

    /**
     * Waits until the path of the lock has no children, so the node is gone, too. Then, or after the last try, a
     * stranger of the same kind enters.
     */
    private void awaitEmpty(QueuedNode model, byte[] data, int tries) {
        NodeTree tree = ensemble.committed();
        if (tries > 0 && !tree.children(model.lockPath()).isEmpty()) {
            soon(() -> awaitEmpty(model, data, tries - 1));
        } else {
            enter(model, data);
        }
    }

    /**
     * Lets a stranger enter the queue, mostly on a recreated path. A client that knew the numbers on the old path may
     * take the numbers on the new one for their continuation.
     */
    private void enter(QueuedNode model, byte[] data) {
        Duration stay = duration(64).plusMillis(8 * MILLIS);
        if (choices().chance(700)) {
            if (choices().chance(400)) {
                ensemble.touchNode(model.lockPath());
            }
            ensemble.makeAnew(model.lockPath());
        }
        String id = String.format(Locale.ROOT, "%032x", schedule.simulation().steps());
        ensemble.createStranger(model.lockPath() + "/" + id + "-" + model.kind(), data);
        if (choices().chance(200)) {
            soon(() -> schedule.actors().forEach(actor -> actor.process().disconnect()));
        }
        schedule.simulation().after(stay, this::sendAway);
    }

    /** Ends the visit of the strangers. Repeats this if the deletion is lost together with a deposed leader. */
    private void sendAway() {
        ensemble.removeStrangers();
        schedule.simulation().after(Schedule.SESSION.dividedBy(3), () -> {
            if (ensemble.isTroubled() || ensemble.hasStrangers()) {
                sendAway();
            } else {
                lastTrouble = Math.max(lastTrouble, healed());
                hunts--;
            }
        });
    }

    /** Returns the next node behind this one in its queue if that node waits; otherwise an empty list. */
    private List<QueuedNode> behind(QueuedNode front) {
        List<QueuedNode> queue = schedule.lockNodes().stream()
                .filter(place -> place.lockPath().equals(front.lockPath()))
                .toList();
        int next = queue.indexOf(front) + 1;
        return next > 0 && next < queue.size() && !schedule.judge().isGranted(queue.get(next))
                ? List.of(queue.get(next))
                : List.of();
    }

    private void takePlaceBehind(QueuedNode front) {
        lastTrouble = Math.max(lastTrouble, healed());
        behind(front).forEach(place -> takePlace(place, front));
    }

    private void takePlace(QueuedNode place, QueuedNode front) {
        Optional<Long> session = ensemble.committed().owner(place.path());
        if (choices().chance(300)) {
            soon(() -> ensemble.touchNode(front.path()));
        }
        soon(() -> delete(place.path()));
        if (choices().chance(500)) {
            soon(() -> schedule.actors().stream()
                    .map(Actor::process)
                    .filter(process ->
                            session.filter(id -> id == process.sessionId()).isPresent())
                    .forEach(SimulatedProcess::disconnect));
        }
    }

    /** Runs an action within the time that a few messages take. */
    private void soon(Runnable what) {
        schedule.simulation().after(Duration.ofMillis(choices().next(12)), what);
    }

    private void delete(String path) {
        if (ensemble.committed().exists(path)) {
            schedule.judge().deletedByOperator(path);
            ensemble.deleteNode(path);
        }
    }

    /** Deletes a held node without a watch event. Requests that wait for it check again only after a long time. */
    private void deleteUntold() {
        Optional<QueuedNode> held = schedule.lockNodes().stream()
                .filter(schedule.judge()::isGranted)
                .findFirst();
        held.ifPresent(place -> {
            lastTrouble = schedule.simulation().now() + LONGEST_WAIT_FOR_A_LOOK.toNanos();
            schedule.judge().deletedByOperator(place.path());
            ensemble.deleteNodeUntold(place.path());
        });
    }

    private void onSomeNode(boolean delete) {
        List<QueuedNode> nodes = new ArrayList<>(schedule.lockNodes());
        if (!delete && choices().chance(300)) {
            ensemble.touchNode(
                    nodes.isEmpty() ? ExploredLock.PATH : nodes.get(0).lockPath());
        } else if (!nodes.isEmpty()) {
            boolean first = choices().chance(500); // the first node is likely to hold
            String path = nodes.get(first ? 0 : choices().next(nodes.size())).path();
            if (delete) {
                delete(path);
            } else {
                ensemble.touchNode(path);
            }
        }
    }
}
