// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * How a run ended, whatever the recipe.
 *
 * @param takeOver the result of the kill; empty if nobody was killed
 * @param limit how long the take-over may take
 * @param troubles what went wrong with the processes
 * @param leftOver nodes still below the lock path
 */
record Ending(Optional<TakeOver> takeOver, TakeOverLimit limit, List<String> troubles, List<String> leftOver) {
    Ending {
        troubles = List.copyOf(troubles);
        leftOver = List.copyOf(leftOver);
    }

    /** The same with one more trouble. */
    Ending with(String trouble) {
        List<String> all = new ArrayList<>(troubles);
        all.add(trouble);
        return new Ending(takeOver, limit, all, leftOver);
    }

    List<Check> checks() {
        List<Check> checks = new ArrayList<>();
        checkTakeOver(checks);
        troubles.forEach(trouble -> checks.add(new Check(false, "processes", trouble)));
        if (troubles.isEmpty()) {
            checks.add(new Check(true, "processes", "all ended in order but the one that was killed"));
        }
        checks.add(new Check(
                leftOver.isEmpty(),
                "nodes",
                leftOver.isEmpty()
                        ? "none is left below the lock path"
                        : leftOver.size() + " left below the lock path: " + String.join(", ", leftOver)));
        return checks;
    }

    private void checkTakeOver(List<Check> checks) {
        if (takeOver.isEmpty()) {
            checks.add(new Check(false, "take-over", "nobody was killed: the victim never came to hold the lock"));
            return;
        }
        TakeOver happened = takeOver.get();
        String victim = Timeline.name(happened.victim().worker());
        happened.intruder()
                .ifPresent(intruder -> checks.add(new Check(
                        false,
                        "exclusion",
                        Timeline.name(intruder.worker()) + " was granted token " + intruder.token() + " while " + victim
                                + " held with token " + happened.victim().token())));
        Optional<Duration> took = happened.took();
        if (took.isEmpty()) {
            checks.add(new Check(false, "take-over", "nobody took over from " + victim + " within " + limit.explain()));
            return;
        }
        boolean ok = took.get().compareTo(limit.total()) <= 0;
        String heir =
                happened.heir().map(grant -> Timeline.name(grant.worker())).orElse("");
        checks.add(new Check(
                ok,
                "take-over",
                heir + " after " + Timeline.show(took.get()) + (ok ? ", limit " : ", too late: limit ")
                        + limit.explain()));
    }
}
