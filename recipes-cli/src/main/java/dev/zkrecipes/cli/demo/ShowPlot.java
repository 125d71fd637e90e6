// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Plays a {@link Show}: everybody keeps a ledger, and the verdict is read from it. */
final class ShowPlot implements Plot {
    private static final int SAMPLES = 8;

    private final Show show;
    private final ScenarioMeans means;
    private final Ledger ledger;
    private final long interval;
    private long granted;
    private long nextAt;

    ShowPlot(Show show, ScenarioMeans means) {
        this.show = show;
        this.means = means;
        this.ledger = new Ledger(means.folder());
        this.interval =
                Math.max(Duration.ofSeconds(1).toNanos(), means.options().time().toNanos() / SAMPLES);
    }

    @Override
    public String intro() {
        return show.intro();
    }

    @Override
    public void begin(long now) {
        try {
            show.prepare(means.folder());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write to " + means.folder(), e);
        }
        restart(now);
    }

    @Override
    public void on(Event event) {
        if (event.kind() == Event.Kind.GRANTED) {
            granted++;
        }
    }

    /** It went out without a word. */
    @Override
    public void killed(int worker) {
        try {
            ledger.out(means.roster().member(worker).pid());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write to " + means.folder(), e);
        }
    }

    @Override
    public void at(long now) {
        if (isDue(now)) {
            means.timeline()
                    .tell(
                            now,
                            "holds",
                            Tone.PLAIN,
                            granted + ", " + means.roster().waiting());
        }
    }

    @Override
    public void atWithout(int dead, long since, long now) {
        if (isDue(now)) {
            means.timeline()
                    .tell(
                            now,
                            "holds",
                            Tone.QUIET,
                            granted + ", " + Timeline.name(dead) + " dead for " + Timeline.show(now - since)
                                    + ", its session still holds");
        }
    }

    @Override
    public void restart(long now) {
        nextAt = now + interval;
    }

    private boolean isDue(long now) {
        if (now - nextAt < 0) {
            return false;
        }
        nextAt += interval;
        return true;
    }

    @Override
    public Verdict verdict(Ending ending) {
        List<Check> checks = new ArrayList<>();
        try {
            checks.addAll(LedgerVerdict.of(show, ledger.entries()));
            checks.addAll(show.evidence(means.folder()));
            checks.addAll(ending.checks());
        } catch (IOException e) {
            checks.addAll(
                    ending.with("the files cannot be read: " + e.getMessage()).checks());
        }
        return new Verdict(checks);
    }
}
