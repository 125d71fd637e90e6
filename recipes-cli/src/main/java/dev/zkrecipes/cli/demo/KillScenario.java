// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Everybody works; one is killed while it holds; somebody takes over; everybody works on. For one thread. */
final class KillScenario implements Scenario {
    /** The least time that the workers run after the take-over. */
    private static final Duration AFTERMATH = Duration.ofSeconds(1);

    private static final Duration LATEST_KILL = Duration.ofSeconds(3);

    /** The demo waits for a late take-over, to report how late it is. */
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /** Between two lines about the same worker. */
    private static final Duration HELD_UP_PAUSE = Duration.ofSeconds(1);

    private final ScenarioMeans means;
    private final Plot plot;
    private final Timeline timeline;
    private final Roster roster;
    private final Troubles troubles;
    private final Map<Integer, Long> heldUpTold = new HashMap<>();

    private KillPlan kill;
    private long endAt;
    private long giveUpAt;

    KillScenario(ScenarioMeans means, Plot plot) {
        this.plot = plot;
        this.means = means;
        this.timeline = means.timeline();
        this.roster = means.roster();
        this.troubles = new Troubles(roster);
        this.kill = new KillPlan(means.direction(), 1, 0);
    }

    @Override
    public void begin(long now) {
        Duration work = means.options().time();
        Duration fifth = work.dividedBy(5);
        int victim = (means.options().workers() + 1) / 2;
        long askAt = now + (fifth.compareTo(LATEST_KILL) < 0 ? fifth : LATEST_KILL).toNanos();
        kill = new KillPlan(means.direction(), victim, askAt);
        endAt = now + work.toNanos();
        giveUpAt = askAt + KillPlan.IDLE.plus(limit().total()).plus(PATIENCE).toNanos();
        plot.begin(now);
        roster.members().forEach(member -> means.direction().order(member.number(), Order.BEGIN));
        timeline.tell(now, "all", Tone.PLAIN, plot.intro());
    }

    @Override
    public void on(Arrival arrival) {
        Event event = arrival.event();
        roster.on(event);
        plot.on(event);
        if (event.kind() == Event.Kind.LOST) {
            tellHeldUp(arrival.nanos(), event.worker());
        }
        troubles.on(event, kill.phase().compareTo(KillPlan.Phase.KILLED) >= 0 ? kill.victim() : 0)
                .ifPresent(trouble -> tell(arrival.nanos(), event.worker(), Tone.BAD, trouble));
        advance(arrival.nanos(), () -> kill.on(arrival));
    }

    @Override
    public void at(long now) {
        advance(now, () -> kill.at(now));
        if (kill.phase() == KillPlan.Phase.KILLED) {
            plot.atWithout(kill.victim(), kill.killedAt(), now);
        } else {
            plot.at(now);
        }
    }

    @Override
    public boolean isOver(long now) {
        if (!troubles.all().isEmpty()) {
            return true;
        }
        if (kill.phase() != KillPlan.Phase.TAKEN_OVER) {
            return now - giveUpAt >= 0;
        }
        return now - endAt >= 0 && now - kill.takenOverAt() >= AFTERMATH.toNanos();
    }

    @Override
    public Verdict verdict(List<String> leftOver) {
        roster.members().stream()
                .filter(Roster.Member::isRunning)
                .forEach(member -> troubles.add(member.name() + " did not end in time when it was asked to"));
        return plot.verdict(new Ending(kill.outcome(), limit(), troubles.all(), leftOver));
    }

    /** Advances the plan, and reports what has changed. */
    private void advance(long now, Runnable step) {
        KillPlan.Phase before = kill.phase();
        step.run();
        if (kill.phase() == before) {
            return;
        }
        int victim = kill.victim();
        switch (kill.phase()) {
            case IDLING ->
                tell(
                        now,
                        victim,
                        Tone.NOTE,
                        "HOLDS with token " + roster.member(victim).token() + " and idles; " + roster.waiting());
            case KILLED -> {
                roster.killed(victim);
                plot.killed(victim);
                tell(
                        now,
                        victim,
                        Tone.BAD,
                        "KILLED (kill -9); its session keeps the lock for about "
                                + Timeline.show(limit().sessionTimeout()));
            }
            case TAKEN_OVER -> kill.outcome().flatMap(TakeOver::heir).ifPresent(heir -> tellHeir(now, heir));
            case PLANNED, ASKED -> {}
        }
    }

    private void tellHeir(long now, Grant heir) {
        tell(
                now,
                heir.worker(),
                Tone.GOOD,
                "TOOK OVER from " + Timeline.name(kill.victim()) + " after "
                        + Timeline.show(heir.nanos() - kill.killedAt()) + " (limit "
                        + Timeline.show(limit().total()) + "), token " + heir.token());
        plot.restart(now);
    }

    /**
     * Once a second: until a worker that was stopped has proof of its session again, it may give back one hold after
     * the other.
     */
    private void tellHeldUp(long now, int worker) {
        Long last = heldUpTold.get(worker);
        if (last == null || now - last >= HELD_UP_PAUSE.toNanos()) {
            heldUpTold.put(worker, now);
            tell(now, worker, Tone.NOTE, "was held up: gave its hold back without writing");
        }
    }

    private void tell(long now, int worker, Tone tone, String text) {
        timeline.tell(now, Timeline.name(worker), tone, text);
    }

    private TakeOverLimit limit() {
        return new TakeOverLimit(
                roster.member(kill.victim()).sessionTimeout(), means.options().tick());
    }
}
