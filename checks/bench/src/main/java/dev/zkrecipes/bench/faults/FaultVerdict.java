// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import dev.zkrecipes.bench.contender.Subject;
import dev.zkrecipes.bench.faults.Referee.Counter;
import dev.zkrecipes.bench.faults.Referee.State;
import dev.zkrecipes.bench.faults.ServerLog.GuardedWrite;
import dev.zkrecipes.bench.faults.ServerLog.Life;
import dev.zkrecipes.bench.faults.Tenure.Outcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Compares what the holders of one subject say with what the servers and the stores have. */
final class FaultVerdict {
    /**
     * What all verdicts are based on.
     *
     * @param staleWrites the counter of each write that was accepted after a later holder had read
     * @param tolerance by how many nanoseconds the servers' times may be wrong
     */
    record Evidence(
            List<Tenure> tenures,
            ServerLog log,
            Map<Counter, State> counters,
            List<Counter> staleWrites,
            long tolerance) {}

    /**
     * A holder that still believed it held the lock when another one, later in the order of the server, had learned of
     * its grant.
     *
     * @param nanos for how long it still believed so, without the time in which its process stood still
     */
    record Overlap(Tenure believer, Tenure holder, long nanos) {}

    private static final String NO_LOG = "nodes that the servers' logs do not have";
    private static final String FORGOTTEN = "guarded writes acknowledged that the servers' logs do not have";

    /**
     * The counts that must be zero for a lock that promises exclusion, a true answer to the holder's check, tokens and
     * guards. Stale writes that neither a token nor a guard protects are not among them.
     */
    static final List<String> PROMISES = List.of(
            "two holders at once by the server's order",
            "holders that believed while another held",
            "tokens not above that of the holder before",
            "stale writes accepted with a token",
            "increments lost with tokens",
            "stale writes committed with a guard",
            "increments lost with guards",
            "threads not served at the end",
            "nodes left at the end",
            NO_LOG,
            FORGOTTEN);

    private final Subject subject;
    private final Evidence evidence;
    private final Map<Integer, List<Tenure>> tenures;
    private final List<Overlap> overlaps = new ArrayList<>();
    private final List<Long> handOvers = new ArrayList<>();
    private final Map<String, Double> figures = new LinkedHashMap<>();
    private long longestPause;

    FaultVerdict(Subject subject, Evidence evidence, int failures, Arena.Remains remains) {
        this.subject = subject;
        this.evidence = evidence;
        tenures = evidence.tenures.stream()
                .filter(tenure -> tenure.subject().equals(subject))
                .sorted(Comparator.comparingLong(Tenure::token))
                .collect(Collectors.groupingBy(Tenure::lock));
        count("grants", tenures.values().stream().mapToInt(List::size).sum());
        tenures.values().forEach(this::timeHandOvers);
        judgeHandOvers();
        tenures.forEach(this::judgeGrants);
        tenures.values().forEach(this::judgeBeliefs);
        count("holders that believed while another held", overlaps.size());
        figures.put(
                "the longest of these, awake, ms",
                overlaps.stream().mapToLong(Overlap::nanos).max().orElse(0) / 1e6);
        tenures.values().forEach(this::judgeTokens);
        count("writes held back by the holder", writes(0, Outcome.HELD_BACK));
        count("stale writes accepted without a token", stale(false));
        count("increments lost without a token", lost(false));
        count("writes refused by token", writes(1, Outcome.REFUSED));
        count("stale writes accepted with a token", stale(true));
        count("increments lost with tokens", lost(true));
        count("writes refused by guard, or with the session", writes(2, Outcome.REFUSED));
        tenures.forEach(this::judgeGuardedWrites);
        count("calls that failed", failures);
        count("threads not served at the end", remains.stuck());
        count("nodes left at the end", remains.nodes());
    }

    private void count(String what, long more) {
        figures.merge(what, (double) more, Double::sum);
    }

    /**
     * Measures each hand-over to a holder that waited, from the call that released the lock to the moment at which the
     * next holder learned of its grant. Also finds the longest time without a grant.
     */
    private void timeHandOvers(List<Tenure> ofLock) {
        for (int i = 1; i < ofLock.size(); i++) {
            Tenure before = ofLock.get(i - 1);
            Tenure after = ofLock.get(i);
            if (after.asked() < before.released() && after.granted() >= before.released()) {
                handOvers.add(after.granted() - before.released());
            }
        }
        long[] grants = ofLock.stream().mapToLong(Tenure::granted).sorted().toArray();
        for (int i = 1; i < grants.length; i++) {
            longestPause = Math.max(longestPause, grants[i] - grants[i - 1]);
        }
    }

    private void judgeHandOvers() {
        handOvers.sort(Comparator.naturalOrder());
        int size = handOvers.size();
        if (size > 0) {
            figures.put("hand-over, median, ms", handOvers.get(size / 2) / 1e6);
            figures.put("hand-over, 99 %, ms", handOvers.get(size * 99 / 100) / 1e6);
        }
        figures.put("longest time without a grant, s", longestPause / 1e9);
    }

    /**
     * Counts the holders that learned of a grant while a node in front of their own existed. A reader may do so, and is
     * not judged: the log does not say which nodes in front are those of readers. Also counts the holders whose nodes
     * the logs do not have.
     */
    private void judgeGrants(int lock, List<Tenure> ofLock) {
        String folder = FaultClient.Threads.path(subject, lock) + "/";
        Map<String, Tenure> byNode = new HashMap<>();
        ofLock.forEach(tenure -> byNode.put(tenure.node(), tenure));
        List<Life> queue = evidence.log.lives().values().stream()
                .filter(life -> life.node().startsWith(folder))
                .sorted(Comparator.comparingLong(Life::created))
                .toList();
        long lastDeletion = Long.MIN_VALUE;
        int early = 0;
        for (Life life : queue) {
            Tenure tenure = byNode.remove(life.node());
            if (tenure != null && !tenure.isShared() && lastDeletion > tenure.granted() + evidence.tolerance) {
                early++;
            }
            lastDeletion = Math.max(lastDeletion, life.deletedAt());
        }
        count("two holders at once by the server's order", early);
        if (!byNode.isEmpty()) {
            count(NO_LOG, byNode.size());
        }
    }

    private void judgeBeliefs(List<Tenure> ofLock) {
        Tenure next = null;
        Tenure nextWriter = null;
        for (int i = ofLock.size() - 1; i >= 0; i--) {
            Tenure tenure = ofLock.get(i);
            Tenure rival = tenure.isShared() ? nextWriter : next;
            if (rival != null && tenure.lastBelieved() > rival.granted()) {
                long awake = tenure.believed().stream()
                        .mapToLong(span -> span.after(rival.granted()))
                        .sum();
                overlaps.add(new Overlap(tenure, rival, awake));
            }
            next = firstTold(tenure, next);
            nextWriter = tenure.isShared() ? nextWriter : firstTold(tenure, nextWriter);
        }
    }

    /** Returns whichever holder was the first to learn of its grant. */
    private static Tenure firstTold(Tenure tenure, @Nullable Tenure later) {
        return later == null || tenure.granted() < later.granted() ? tenure : later;
    }

    private void judgeTokens(List<Tenure> ofLock) {
        int wrong = 0;
        for (int i = 1; i < ofLock.size(); i++) {
            Life before = evidence.log.lives().get(ofLock.get(i - 1).node());
            Life after = evidence.log.lives().get(ofLock.get(i).node());
            boolean inOrder = before == null || after == null || before.created() < after.created();
            wrong += inOrder && ofLock.get(i - 1).token() < ofLock.get(i).token() ? 0 : 1;
        }
        count("tokens not above that of the holder before", wrong);
    }

    private long writes(int kind, Outcome outcome) {
        return tenures.values().stream()
                .flatMap(List::stream)
                .filter(tenure -> tenure.writes().get(kind) == outcome)
                .count();
    }

    private long stale(boolean checksTokens) {
        return evidence.staleWrites.stream()
                .filter(counter -> counter.subject().equals(subject))
                .filter(counter -> counter.checksTokens() == checksTokens)
                .count();
    }

    /** Returns how many increments were acknowledged but are missing in the final values of the counters. */
    private long lost(boolean checksTokens) {
        return evidence.counters.entrySet().stream()
                .filter(each -> each.getKey().subject().equals(subject))
                .filter(each -> each.getKey().checksTokens() == checksTokens)
                .mapToLong(each -> each.getValue().accepted() - each.getValue().value())
                .sum();
    }

    private void judgeGuardedWrites(int lock, List<Tenure> ofLock) {
        List<GuardedWrite> writes = evidence.log.guardedWrites().stream()
                .filter(write -> write.counter().equals(FaultClient.Threads.counter(subject, lock)))
                .toList();
        count(
                "stale writes committed with a guard",
                writes.stream()
                        .filter(write -> !evidence.log.isThere(write.node(), write.zxid()))
                        .count());
        count(
                "increments lost with guards",
                writes.isEmpty()
                        ? 0
                        : writes.size() - writes.get(writes.size() - 1).value());
        Set<String> writers = writes.stream().map(GuardedWrite::node).collect(Collectors.toSet());
        long forgotten = ofLock.stream()
                .filter(tenure -> tenure.writes().get(2) == Outcome.DONE && !writers.contains(tenure.node()))
                .count();
        if (forgotten > 0) {
            count(FORGOTTEN, forgotten);
        }
    }

    /**
     * Returns all figures by name. The times of hand-overs are missing if there was none; what the servers' logs lack
     * is missing if they lack nothing.
     */
    Map<String, String> figures() {
        Map<String, String> text = new LinkedHashMap<>();
        figures.forEach((name, value) -> text.put(
                name, value == Math.rint(value) ? "" + value.longValue() : String.format(Locale.ROOT, "%.1f", value)));
        return text;
    }

    Subject subject() {
        return subject;
    }

    List<Overlap> overlaps() {
        return List.copyOf(overlaps);
    }

    /** Returns the promises that were broken, each with the number of times. */
    List<String> violations() {
        return PROMISES.stream()
                .filter(promise -> figures.getOrDefault(promise, 0.0) != 0)
                .map(promise -> figures().get(promise) + " " + promise)
                .toList();
    }
}
