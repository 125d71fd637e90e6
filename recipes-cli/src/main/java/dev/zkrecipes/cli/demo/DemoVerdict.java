// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import dev.zkrecipes.cli.demo.Ledger.Entry;
import dev.zkrecipes.cli.demo.Ledger.Share;
import dev.zkrecipes.cli.demo.Ledger.What;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Judges a demo by its files, the ledger and the counters. It asks neither the locks nor the server,
 * because these are under test.
 */
final class DemoVerdict {
    /** How late a busy machine may be. */
    private static final Duration SLACK = Duration.ofSeconds(1);

    /**
     * How soon after the kill another worker must hold. First the victim's session has to expire, which the server
     * notices within a tick.
     */
    static final Duration TAKE_OVER_LIMIT =
            DemoWorker.SESSION_TIMEOUT.plus(Demo.TICK).plus(SLACK);

    private final DemoRecipe recipe;
    private final List<Entry> entries;
    private final List<Hold> holds = new ArrayList<>();

    /**
     * The result of one check.
     *
     * @param ok whether the check passed
     * @param subject what was checked, in one word
     * @param finding what was found
     */
    record Check(boolean ok, String subject, String finding) {}

    /**
     * A hold, from the line of the ledger with which it begins to the line with which it ends.
     *
     * @param in the first line
     * @param share what the worker held
     * @param first the index of the first line
     * @param last the index of the last line, or the number of lines if the hold did not end
     * @param end what happened in the last line; {@code IN} if the hold did not end
     */
    private record Hold(Entry in, Share share, int first, int last, What end) {
        boolean isAt(int index) {
            return first <= index && index < last;
        }

        String show() {
            return "w" + in.worker() + " (" + share + ")";
        }
    }

    DemoVerdict(DemoRecipe recipe, List<Entry> entries) {
        this.recipe = recipe;
        this.entries = entries;
        Map<Integer, Integer> inside = new TreeMap<>();
        for (int i = 0; i < entries.size(); i++) {
            Entry entry = entries.get(i);
            switch (entry.what()) {
                case IN -> inside.put(entry.worker(), i);
                case OUT, LOST, FAILS, KILLED -> close(inside.remove(entry.worker()), i, entry.what());
                case ASKS, IDLES -> {}
            }
        }
        inside.values().forEach(first -> close(first, entries.size(), What.IN));
    }

    /** Adds a hold. {@code first} is null if the worker lost its lease before it had written that it was in. */
    private void close(@Nullable Integer first, int last, What end) {
        // A hold that was found to be lost may overlap with others. That breaks no rule, because its worker has
        // written nothing to the counters.
        if (first != null && end != What.LOST) {
            Entry in = entries.get(first);
            holds.add(new Hold(in, in.share(), first, last, end));
        }
    }

    List<Check> checks(List<Long> counts) {
        holds.sort((a, b) -> Integer.compare(a.first(), b.first()));
        return List.of(rule(), counters(counts), tokens(), takeOver());
    }

    /** Checks at the beginning of each hold that all workers that hold at that time may hold together. */
    private Check rule() {
        long most = 0;
        List<String> violations = new ArrayList<>();
        for (Hold hold : holds) {
            List<Hold> together =
                    holds.stream().filter(each -> each.isAt(hold.first())).toList();
            most = Math.max(most, together.size());
            for (int thing : hold.share().things()) {
                List<Hold> here = together.stream()
                        .filter(each -> each.share().things().contains(thing))
                        .toList();
                if (here.stream().mapToInt(each -> each.share().amount()).sum() > recipe.capacity) {
                    violations.add(String.join(
                            " beside ", here.stream().map(Hold::show).toList()));
                }
            }
        }
        long workers = holds.stream().map(hold -> hold.in().worker()).distinct().count();
        String found = violations.isEmpty()
                ? holds.size() + " holds, " + workers + " processes, " + most + " at once"
                : "violated " + violations.size() + " times, first by " + violations.get(0);
        return new Check(workers > 1 && violations.isEmpty(), "rule", recipe.rule + ": " + found);
    }

    /**
     * Checks that no update of a counter was lost. Each worker that had the whole of a thing and wrote that it was
     * out has added one to the counter of that thing.
     */
    private Check counters(List<Long> counts) {
        List<Long> made = new ArrayList<>();
        for (int i = 0; i < counts.size(); i++) {
            int thing = i;
            made.add(holds.stream()
                    .filter(hold -> hold.end() == What.OUT && isWhole(hold))
                    .filter(hold -> hold.share().things().contains(thing))
                    .count());
        }
        boolean equal = made.equals(counts);
        return new Check(
                equal && sum(made) > 0,
                "updates",
                sum(counts) + " counted " + (equal ? "=" : "but") + " " + sum(made) + " made by those who held alone");
    }

    private static long sum(List<Long> all) {
        return all.stream().mapToLong(Long::longValue).sum();
    }

    /** Whether a hold has the full capacity of its things, so that it excludes every other hold of them. */
    private boolean isWhole(Hold hold) {
        return hold.share().amount() == recipe.capacity;
    }

    /** Checks that the token of a hold is greater than the tokens of all earlier holds that exclude it. */
    private Check tokens() {
        for (Hold later : holds) {
            for (Hold earlier : holds) {
                boolean excluded = (isWhole(earlier) || isWhole(later))
                        && earlier.share().things().stream()
                                .anyMatch(later.share().things()::contains);
                if (earlier.first() < later.first()
                        && excluded
                        && earlier.in().token() >= later.in().token()) {
                    return new Check(
                            false,
                            "tokens",
                            "w" + later.in().worker() + " came with "
                                    + later.in().token() + " after w"
                                    + earlier.in().worker() + " with "
                                    + earlier.in().token());
                }
            }
        }
        return new Check(true, "tokens", "fencing tokens rose from holder to holder");
    }

    /** Checks that another worker held soon enough after the kill. */
    private Check takeOver() {
        Optional<Entry> killed =
                entries.stream().filter(entry -> entry.what() == What.KILLED).findFirst();
        if (killed.isEmpty()) {
            return new Check(false, "take-over", "nobody was killed: the victim never came to hold");
        }
        Optional<Duration> took = heir(entries)
                .map(heir -> Duration.ofNanos(heir.at() - killed.get().at()));
        return new Check(
                took.isPresent() && took.get().compareTo(TAKE_OVER_LIMIT) <= 0,
                "take-over",
                took.map(time -> "after " + Demo.show(time)).orElse("none") + ", limit " + Demo.show(TAKE_OVER_LIMIT)
                        + " (session, tick and a second)");
    }

    /** The first hold after the kill. It is the take-over, because the victim held everything. */
    static Optional<Entry> heir(List<Entry> entries) {
        return entries.stream()
                .dropWhile(entry -> entry.what() != What.KILLED)
                .filter(entry -> entry.what() == What.IN)
                .findFirst();
    }
}
