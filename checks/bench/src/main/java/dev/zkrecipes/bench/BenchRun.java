// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench;

import dev.zkrecipes.bench.cases.BenchCase;
import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.measure.Effort;
import dev.zkrecipes.bench.measure.Sample;
import dev.zkrecipes.bench.measure.Setting;
import dev.zkrecipes.bench.measure.Site;
import dev.zkrecipes.bench.report.Result;
import dev.zkrecipes.bench.server.ServerProcess;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/** Plays a case: in every round each contender has a turn, connected only while it has it. */
final class BenchRun {
    private static final int PINGS = 100;

    private final Servers servers;
    private final Effort effort;
    private final Set<Contender> invited;
    private final Progress progress;
    private int sites;

    BenchRun(Servers servers, Effort effort, Set<Contender> invited, Progress progress) {
        this.servers = servers;
        this.effort = effort;
        this.invited = invited;
        this.progress = progress;
    }

    /** How many turns a case takes in each setting. */
    static int turns(BenchCase benchCase, Effort effort, Set<Contender> invited) {
        return contenders(benchCase, invited).size() * (discarded(benchCase, effort) + rounds(benchCase, effort));
    }

    /** Lets the compilers of both JVMs see each contender, before anything is measured. */
    void start(BenchCase benchCase, Setting setting) throws InterruptedException {
        for (Contender contender : contenders(benchCase, invited)) {
            progress.note("starting with " + benchCase.name() + ": " + contender);
            turn(benchCase, setting, contender, servers.of(setting.store()), effort.toStart());
        }
    }

    Result play(BenchCase benchCase, Setting setting) throws InterruptedException {
        Set<Contender> contenders = contenders(benchCase, invited);
        ServerProcess server = servers.of(setting.store());
        double roundTrip = RoundTrip.medianMicros(server.connectString(setting.roundTripMillis()), PINGS);
        Map<Contender, List<Sample>> samples = new EnumMap<>(Contender.class);
        contenders.forEach(contender -> samples.put(contender, new ArrayList<>()));
        int rounds = rounds(benchCase, effort);
        for (int round = 1 - discarded(benchCase, effort); round <= rounds; round++) {
            for (Contender contender : order(contenders, Math.floorMod(round, 2))) {
                progress.next(benchCase.name() + ", " + setting + ", "
                        + (round < 1 ? "warm-up" : "round " + round + " of " + rounds) + ": " + contender);
                Sample sample = turn(benchCase, setting, contender, server, effort);
                if (round >= 1) {
                    Objects.requireNonNull(samples.get(contender)).add(sample);
                }
            }
        }
        servers.tidy();
        return new Result(benchCase, setting, roundTrip, samples);
    }

    /** The order of turns: every other round is backwards, so that no contender always follows the same one. */
    static List<Contender> order(Collection<Contender> contenders, int round) {
        return contenders.stream()
                .sorted(round % 2 == 1 ? Comparator.reverseOrder() : Comparator.naturalOrder())
                .toList();
    }

    private Sample turn(BenchCase benchCase, Setting setting, Contender contender, ServerProcess server, Effort spent)
            throws InterruptedException {
        String path = "/bench/" + benchCase.name() + "/" + sites++;
        System.gc(); // what one leaves behind is not to be cleared away in the turn of the next
        return Objects.requireNonNull(benchCase.contenders().get(contender))
                .measure(server, new Site(server.connectString(setting.roundTripMillis()), path), spent);
    }

    private static int discarded(BenchCase benchCase, Effort effort) {
        return benchCase.isExact() ? 0 : effort.discarded();
    }

    private static int rounds(BenchCase benchCase, Effort effort) {
        return benchCase.isExact() ? 1 : effort.rounds();
    }

    private static Set<Contender> contenders(BenchCase benchCase, Set<Contender> invited) {
        Set<Contender> contenders = new TreeSet<>(benchCase.contenders().keySet());
        contenders.retainAll(invited);
        return contenders;
    }
}
