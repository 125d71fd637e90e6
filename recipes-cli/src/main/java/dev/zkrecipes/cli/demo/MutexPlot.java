// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import dev.zkrecipes.cli.demo.CounterFile.Counter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Everybody increments a counter file under one mutex. */
final class MutexPlot implements Plot {
    private final ScenarioMeans means;
    private final MutexSamples samples;
    private final List<Increment> increments = new ArrayList<>();

    MutexPlot(ScenarioMeans means) {
        this.means = means;
        this.samples = new MutexSamples(
                means.timeline(), means.roster(), means.options().time());
    }

    @Override
    public String intro() {
        return "acquire, add 1 to the counter file, release, again and again";
    }

    @Override
    public void begin(long now) {
        samples.begin(now);
    }

    @Override
    public void on(Event event) {
        if (event.kind() == Event.Kind.INCREMENTED) {
            Increment increment = Increment.of(event);
            increments.add(increment);
            samples.on(increment);
        }
    }

    @Override
    public void killed(int worker) {}

    @Override
    public void at(long now) {
        samples.at(now);
    }

    @Override
    public void atWithout(int dead, long since, long now) {
        samples.atWithout(dead, since, now);
    }

    @Override
    public void restart(long now) {
        samples.restart(now);
    }

    @Override
    public Verdict verdict(Ending ending) {
        try {
            Counter counter = new CounterFile(means.folder()).read();
            return MutexVerdict.of(new MutexHistory(increments, counter, ending));
        } catch (IOException e) {
            Ending worse = ending.with("the counter file cannot be read: " + e.getMessage());
            return MutexVerdict.of(new MutexHistory(increments, Counter.ZERO, worse));
        }
    }
}
