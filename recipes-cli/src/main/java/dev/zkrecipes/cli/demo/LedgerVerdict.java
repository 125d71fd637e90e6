// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads a ledger from its beginning to its end: which workers were in together, and whether they were allowed to be.
 */
final class LedgerVerdict {
    private final Show show;
    private final Map<Long, String> inside = new LinkedHashMap<>();
    private final Set<Long> workers = new HashSet<>();
    private long holds;
    private long greatest;
    private long violations;
    private String firstViolation = "";

    private LedgerVerdict(Show show) {
        this.show = show;
    }

    static List<Check> of(Show show, List<Ledger.Entry> entries) {
        LedgerVerdict verdict = new LedgerVerdict(show);
        entries.forEach(verdict::read);
        return verdict.checks();
    }

    private void read(Ledger.Entry entry) {
        if (entry.share().isEmpty()) {
            inside.remove(entry.pid());
            return;
        }
        inside.put(entry.pid(), entry.share());
        workers.add(entry.pid());
        holds++;
        greatest = Math.max(greatest, show.size(inside.values()));
        if (!show.mayBeTogether(inside.values())) {
            violations++;
            if (firstViolation.isEmpty()) {
                firstViolation = String.join(" beside ", inside.values());
            }
        }
    }

    private List<Check> checks() {
        return List.of(
                new Check(
                        workers.size() > 1,
                        "holds",
                        holds + " by " + workers.size() + " processes, at most " + greatest + " together"),
                new Check(
                        violations == 0,
                        "rule",
                        violations == 0
                                ? show.rule() + ": never violated"
                                : show.rule() + ": violated " + violations + " times, first by " + firstViolation));
    }
}
