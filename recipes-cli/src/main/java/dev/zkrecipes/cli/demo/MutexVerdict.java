// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Judges a run of the mutex demo.
 *
 * <p>The order of the history is that of the values in the file, not that of the events, which may overtake each other
 * on their way. An increment that was written but not reported, because its worker died in between, shows as a value
 * that nobody reports; a worker that dies otherwise than by the demo's own kill fails the demo in any case, and that
 * one idles before it writes.
 */
final class MutexVerdict {
    private final MutexHistory history;
    private final List<Increment> inOrder;
    private final List<Check> checks = new ArrayList<>();

    private MutexVerdict(MutexHistory history) {
        this.history = history;
        this.inOrder = history.increments().stream()
                .sorted(Comparator.comparingLong(Increment::value))
                .toList();
    }

    static Verdict of(MutexHistory history) {
        MutexVerdict verdict = new MutexVerdict(history);
        verdict.checkCount();
        verdict.checkUpdates();
        verdict.checkTokens();
        verdict.checks.addAll(history.ending().checks());
        return new Verdict(verdict.checks);
    }

    private void checkCount() {
        long counted = history.file().value();
        long made = history.increments().size();
        boolean ok = counted == made && made > 0;
        check(
                ok,
                "increments",
                counted + " counted in the file " + (counted == made ? "=" : "but") + " " + made
                        + " made by the workers");
    }

    /** Each value from 1 on was written once, by a worker that had read the value before. */
    private void checkUpdates() {
        long expected = 1;
        for (Increment increment : inOrder) {
            if (increment.value() < expected) {
                check(
                        false,
                        "updates",
                        "value " + increment.value() + " was written twice: an update is lost (the second time by "
                                + Timeline.name(increment.worker()) + ")");
                return;
            }
            if (increment.value() > expected) {
                check(false, "updates", "nobody reported to have written value " + expected);
                return;
            }
            expected++;
        }
        check(true, "updates", "each value from 1 to " + (expected - 1) + " was written exactly once");
    }

    private void checkTokens() {
        long last = 0;
        for (Increment increment : inOrder) {
            String who = "value " + increment.value() + " by " + Timeline.name(increment.worker());
            if (increment.token() <= last) {
                check(false, "tokens", who + " has token " + increment.token() + ", not above " + last + " before it");
                return;
            }
            if (increment.found() != last) {
                check(false, "tokens", who + " came upon token " + increment.found() + " instead of " + last);
                return;
            }
            last = increment.token();
        }
        if (history.file().token() != last) {
            check(false, "tokens", "the file ends with token " + history.file().token() + " instead of " + last);
            return;
        }
        String range = inOrder.isEmpty() ? "none" : inOrder.get(0).token() + " to " + last;
        check(true, "tokens", "strictly rising in the order of the file, " + range);
    }

    private void check(boolean ok, String subject, String finding) {
        checks.add(new Check(ok, subject, finding));
    }
}
