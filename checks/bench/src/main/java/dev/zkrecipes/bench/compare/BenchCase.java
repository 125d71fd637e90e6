// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.compare;

import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.contender.Work;
import dev.zkrecipes.bench.runner.Store;
import java.util.List;

/**
 * One measurement of several contenders.
 *
 * @param name its name for {@code --case}
 * @param description the work that it measures
 * @param work what each thread repeats
 * @param size the number that the work needs; 1 for others
 * @param threads how many threads, of how many clients, and on how many paths: they are dealt out in turn
 * @param settings where it is measured, in this order
 * @param targets the targets for ours
 */
record BenchCase(
        String name,
        String description,
        Work work,
        int size,
        Threads threads,
        List<Setting> settings,
        List<Target> targets) {
    /** How many threads of how many clients work on how many paths. */
    record Threads(int count, int clients, int paths) {
        static final Threads ONE = new Threads(1, 1, 1);
    }

    /**
     * Where a case is measured.
     *
     * @param roundTripMillis the delay added to each round trip; 0 for the plain loopback interface
     * @param store where the server keeps its data
     */
    record Setting(int roundTripMillis, Store store) {
        static Setting memory(int roundTripMillis) {
            return new Setting(roundTripMillis, Store.MEMORY);
        }

        @Override
        public String toString() {
            return roundTripMillis + " ms" + (store == Store.DISK ? ", disk" : "");
        }
    }

    /**
     * A target for one of our figures. If more is better, the bound is a minimum, otherwise a maximum.
     *
     * @param roundTripMillis where it applies
     * @param against the contender to divide our figure by; ours for the figure itself
     * @param bound the bound of the ratio or of the figure
     */
    record Target(int roundTripMillis, Metric metric, Contender against, double bound) {
        /** Whether a measured ratio or figure meets it. */
        boolean isMetBy(double measured) {
            return metric.moreIsBetter() ? measured >= bound : measured <= bound;
        }

        @Override
        public String toString() {
            return (metric.moreIsBetter() ? ">= " : "<= ") + bound;
        }
    }

    /** Whether every round gives the same figures, so that one is enough. */
    boolean isExact() {
        return work == Work.REQUESTS;
    }
}
