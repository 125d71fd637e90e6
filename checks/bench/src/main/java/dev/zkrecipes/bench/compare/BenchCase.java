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
 * @param size a number that some kinds of work need, such as how many permits; 1 for the others
 * @param threads how many threads, clients and paths there are
 * @param settings where it is measured, in this order
 * @param targets the targets for this library's figures
 */
record BenchCase(
        String name,
        String description,
        Work work,
        int size,
        Threads threads,
        List<Setting> settings,
        List<Target> targets) {
    /**
     * How many threads use how many clients and paths. The clients and the paths are assigned to the threads in turn.
     */
    record Threads(int count, int clients, int paths) {}

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
     * A target for one of this library's figures. If more is better, the bound is a minimum, otherwise a maximum.
     *
     * @param roundTripMillis the delay added to each round trip, with the store in memory, where the target applies
     * @param against the contender by whose figure this library's is divided; OURS if the bound is for the figure
     *     itself
     * @param bound the bound of the ratio or of the figure
     */
    record Target(int roundTripMillis, Metric metric, Contender against, double bound) {
        /** Whether a measured ratio or figure meets this target. */
        boolean isMetBy(double measured) {
            return metric.moreIsBetter() ? measured >= bound : measured <= bound;
        }

        @Override
        public String toString() {
            return (metric.moreIsBetter() ? ">= " : "<= ") + bound;
        }
    }
}
