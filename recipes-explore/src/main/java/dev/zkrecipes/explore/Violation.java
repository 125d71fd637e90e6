// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import java.util.List;
import java.util.stream.Collectors;

/**
 * A promise that was broken in a schedule.
 *
 * @param lock the name of the lock
 * @param rule the promise
 * @param message what was observed
 * @param seed the seed of the schedule
 * @param choices the choices of the schedule, which replay it whatever the seed
 * @param trace what happened, if it was recorded
 */
public record Violation(
        String lock, String rule, String message, long seed, List<Integer> choices, List<String> trace) {

    int[] answers() {
        return choices.stream().mapToInt(Integer::intValue).toArray();
    }

    /** Returns a report for people. */
    @Override
    public String toString() {
        return lock + ": " + rule + ": " + message + System.lineSeparator()
                + "seed " + seed + ", " + choices.size() + " choices, trace of " + trace.size() + " lines"
                + trace.stream()
                        .map(line -> System.lineSeparator() + "  " + line)
                        .collect(Collectors.joining());
    }
}
