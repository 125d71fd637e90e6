// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.ensemble;

import dev.zkrecipes.it.ensemble.Write.Outcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Compares what the processes say with what the servers have, and lists violations. */
final class RunVerdict {
    private final List<Hold> holds;
    private final List<Write> writes;
    private final List<String> violations = new ArrayList<>();

    private RunVerdict(List<Hold> holds, List<Write> writes) {
        this.holds = holds;
        this.writes = writes;
    }

    /**
     * Judges a run.
     *
     * @param holds of all processes
     * @param writes of all processes
     * @param counters the last values
     * @param histories the increments of each counter, in the server's order
     */
    static List<String> violations(
            List<Hold> holds,
            List<Write> writes,
            Map<String, Long> counters,
            Map<String, List<Store.Entry>> histories) {
        RunVerdict verdict = new RunVerdict(holds, writes);
        counters.forEach((name, value) -> {
            List<Store.Entry> history = histories.getOrDefault(name, List.of());
            verdict.judgeValues(name, value, history);
            verdict.judgeWrites(name, history);
            verdict.judgeTokens(name, history);
            verdict.judgeValidity(name);
        });
        return verdict.violations;
    }

    private void judgeValues(String name, long value, List<Store.Entry> history) {
        if (value != history.size()) {
            violations.add(name + " is " + value + " after " + history.size() + " increments");
        }
        for (int i = 0; i < history.size(); i++) {
            if (history.get(i).value() != i + 1) {
                violations.add("increment " + (i + 1) + " of " + name + " wrote " + history.get(i));
            }
        }
    }

    private void judgeWrites(String name, List<Store.Entry> history) {
        Map<String, Outcome> outcomes = new HashMap<>();
        writes.stream()
                .filter(write -> write.counters().contains(name))
                .forEach(write -> outcomes.put(write.id(), write.outcome()));
        Set<String> applied = new HashSet<>();
        for (Store.Entry entry : history) {
            applied.add(entry.id());
            Outcome outcome = outcomes.get(entry.id());
            if (outcome == null || outcome == Outcome.REFUSED) {
                violations.add("write " + entry.id() + " to " + name + " was applied, and its process says " + outcome);
            }
        }
        outcomes.forEach((id, outcome) -> {
            if (outcome == Outcome.DONE && !applied.contains(id)) {
                violations.add("write " + id + " to " + name + " was acknowledged and is lost");
            }
        });
    }

    /** No holder writes after a later one did. */
    private void judgeTokens(String name, List<Store.Entry> history) {
        long greatest = 0;
        for (Store.Entry entry : history) {
            if (entry.token() < greatest) {
                violations.add("a holder of " + name + " wrote after token " + greatest + " had: " + entry);
            }
            greatest = Math.max(greatest, entry.token());
        }
    }

    /** No client was told that it holds after another one, which must not hold beside it, was granted. */
    private void judgeValidity(String name) {
        List<Hold> inOrder = holds.stream()
                .filter(hold -> hold.lock().equals(name))
                .sorted(Comparator.comparingLong(Hold::token))
                .toList();
        Hold lastOfAll = null;
        Hold lastExclusive = null;
        for (Hold hold : inOrder) {
            Hold rival = hold.exclusive() ? lastOfAll : lastExclusive;
            if (rival != null && rival.token() == hold.token()) {
                violations.add("two holds of " + name + " with one token: " + rival + ", " + hold);
            }
            if (rival != null && rival.lastValidAt() - hold.grantedAt() > 0) {
                violations.add(rival + " was valid " + (rival.lastValidAt() - hold.grantedAt()) / 1000
                        + " us after the grant of " + hold);
            }
            lastOfAll = later(lastOfAll, hold);
            lastExclusive = hold.exclusive() ? later(lastExclusive, hold) : lastExclusive;
        }
    }

    private static Hold later(Hold one, Hold other) {
        return one == null || other.lastValidAt() - one.lastValidAt() > 0 ? other : one;
    }
}
