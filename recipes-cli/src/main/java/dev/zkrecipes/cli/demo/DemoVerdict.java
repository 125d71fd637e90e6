// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import dev.zkrecipes.cli.demo.Ledger.Entry;
import dev.zkrecipes.cli.demo.Ledger.What;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Judges a demo by its files, the ledger and the counter. It asks neither the lock nor the server, because these are
 * under test.
 */
final class DemoVerdict {
    /** The delay that is allowed on a busy machine. */
    private static final Duration SLACK = Duration.ofSeconds(1);

    /**
     * How soon after the kill another worker must hold. First the victim's session has to expire, which the server
     * notices within a tick.
     */
    static final Duration TAKE_OVER_LIMIT =
            DemoWorker.SESSION_TIMEOUT.plus(Demo.TICK).plus(SLACK);

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
     * @param first the index of the first line
     * @param last the index of the last line, or the number of lines if the hold did not end
     * @param end what happened in the last line; {@code IN} if the hold did not end
     */
    private record Hold(Entry in, int first, int last, What end) {
        boolean isAt(int index) {
            return first <= index && index < last;
        }

        String show() {
            return "w" + in.worker() + " (token " + in.token() + ")";
        }
    }

    DemoVerdict(List<Entry> entries) {
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
        // written nothing to the counter.
        if (first != null && end != What.LOST) {
            holds.add(new Hold(entries.get(first), first, last, end));
        }
    }

    List<Check> checks(long count) {
        holds.sort((a, b) -> Integer.compare(a.first(), b.first()));
        return List.of(rule(), updates(count), tokens(), takeOver());
    }

    /** Checks that nobody else held at the beginning of a hold. */
    private Check rule() {
        List<String> violations = new ArrayList<>();
        for (Hold hold : holds) {
            List<String> together = holds.stream()
                    .filter(each -> each.isAt(hold.first()))
                    .map(Hold::show)
                    .toList();
            if (together.size() > 1) {
                violations.add(String.join(" beside ", together));
            }
        }
        long workers = holds.stream().map(hold -> hold.in().worker()).distinct().count();
        String found = violations.isEmpty()
                ? holds.size() + " holds, " + workers + " processes"
                : "violated " + violations.size() + " times, first by " + violations.get(0);
        return new Check(workers > 1 && violations.isEmpty(), "rule", "one at a time: " + found);
    }

    /** Checks that no update of the counter was lost: each worker that wrote that it was out has added one. */
    private Check updates(long count) {
        long made = holds.stream().filter(hold -> hold.end() == What.OUT).count();
        return new Check(
                count == made && made > 0,
                "updates",
                count + " counted " + (count == made ? "=" : "but") + " " + made + " made under the lock");
    }

    /** Checks that the token of each hold is greater than that of the hold before. */
    private Check tokens() {
        for (int i = 1; i < holds.size(); i++) {
            Entry earlier = holds.get(i - 1).in();
            Entry later = holds.get(i).in();
            if (earlier.token() >= later.token()) {
                return new Check(
                        false,
                        "tokens",
                        "w" + later.worker() + " came with " + later.token() + " after w" + earlier.worker() + " with "
                                + earlier.token());
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

    /** Returns the first hold after the kill. It is the take-over, because the victim held the lock. */
    static Optional<Entry> heir(List<Entry> entries) {
        return entries.stream()
                .dropWhile(entry -> entry.what() != What.KILLED)
                .filter(entry -> entry.what() == What.IN)
                .findFirst();
    }
}
