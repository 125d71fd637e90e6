// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The result of a demo.
 *
 * @param checks all checks, passed and failed
 */
record Verdict(List<Check> checks) {
    Verdict {
        checks = List.copyOf(checks);
    }

    boolean isPassed() {
        return checks.stream().allMatch(Check::ok);
    }

    Verdict and(Check check) {
        List<Check> all = new ArrayList<>(checks);
        all.add(check);
        return new Verdict(all);
    }

    void printOn(Page page) {
        for (Check check : checks) {
            String head = String.format(Locale.ROOT, "  %-6s  %-10s  ", check.ok() ? "ok" : "FAILED", check.subject());
            page.print(head, check.ok() ? Tone.GOOD : Tone.BAD, check.ok() ? Tone.PLAIN : Tone.BAD, check.finding());
        }
        long failed = checks.stream().filter(check -> !check.ok()).count();
        page.print(
                isPassed() ? Tone.GOOD : Tone.BAD,
                isPassed() ? "PASSED" : "FAILED: " + failed + " of " + checks.size() + " checks");
    }
}
