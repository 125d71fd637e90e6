// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.cases;

import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.measure.Experiment;
import dev.zkrecipes.bench.measure.Metric;
import dev.zkrecipes.bench.measure.Repetition;
import dev.zkrecipes.bench.measure.Setting;
import dev.zkrecipes.bench.measure.Workload;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * One measurement of several contenders.
 *
 * @param name its name for {@code --case}
 * @param description the work that it measures
 * @param settings where it is measured, in this order
 * @param contenders the participants
 * @param targets the targets for ours
 */
public record BenchCase(
        String name,
        String description,
        List<Setting> settings,
        Map<Contender, Experiment> contenders,
        List<Target> targets) {

    static Builder named(String name, String description) {
        return new Builder(name, description);
    }

    /** Whether a single round is enough. */
    public boolean isExact() {
        return contenders.values().stream().allMatch(Experiment::isExact);
    }

    /** The targets that hold in a setting for a metric. */
    public List<Target> targets(Setting setting, Metric metric) {
        return targets.stream()
                .filter(target -> target.metric() == metric)
                .filter(target -> setting.equals(Setting.memory(target.roundTripMillis())))
                .toList();
    }

    /** Puts a case together. */
    static final class Builder {
        private final String name;
        private final String description;
        private final List<Setting> settings = new ArrayList<>();
        private final Map<Contender, Experiment> contenders = new EnumMap<>(Contender.class);
        private final List<Target> targets = new ArrayList<>();
        private int threads = 1;
        private int acquiresPerCycle = 1;

        private Builder(String name, String description) {
            this.name = name;
            this.description = description;
        }

        /** The contenders named after it. */
        Builder threads(int number) {
            threads = number;
            return this;
        }

        /** The contenders named after it. */
        Builder acquiresPerCycle(int number) {
            acquiresPerCycle = number;
            return this;
        }

        Builder at(int... roundTripMillis) {
            for (int millis : roundTripMillis) {
                settings.add(Setting.memory(millis));
            }
            return this;
        }

        Builder onDisk() {
            settings.add(Setting.disk());
            return this;
        }

        Builder ours(Workload.Opener opener) {
            return contender(Contender.OURS, repeated(opener));
        }

        Builder curator(Workload.Opener opener) {
            return contender(Contender.CURATOR, repeated(opener));
        }

        Builder bare(Workload.Opener opener) {
            return contender(Contender.BARE, repeated(opener));
        }

        Builder contender(Contender contender, Experiment experiment) {
            contenders.put(contender, experiment);
            return this;
        }

        Builder target(int roundTripMillis, Metric metric, Contender against, double bound) {
            targets.add(Target.ratio(roundTripMillis, metric, against, bound));
            return this;
        }

        Builder target(int roundTripMillis, Metric metric, double bound) {
            targets.add(Target.figure(roundTripMillis, metric, bound));
            return this;
        }

        BenchCase build() {
            return new BenchCase(
                    name,
                    description,
                    List.copyOf(settings),
                    Collections.unmodifiableMap(contenders),
                    List.copyOf(targets));
        }

        private Repetition repeated(Workload.Opener opener) {
            return new Repetition(opener, threads, acquiresPerCycle);
        }
    }
}
