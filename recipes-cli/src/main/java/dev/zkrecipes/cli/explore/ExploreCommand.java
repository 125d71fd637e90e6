// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.explore;

import dev.zkrecipes.explore.ExploredLock;
import dev.zkrecipes.explore.Explorer;
import dev.zkrecipes.explore.Violation;
import java.io.PrintWriter;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code zklock explore}: the recipes on a simulated ensemble, under faults, by the hundred thousand. */
@Command(
        name = "explore",
        header = "Plays the recipes on a simulated ensemble under faults.",
        description = {
            "Plays schedules of requests, delays and faults on a simulated ZooKeeper ensemble and checks the promises of"
                    + " the recipes after every step. The first schedule that breaks one is made simpler and printed.",
            "Needs no server."
        },
        mixinStandardHelpOptions = true,
        footerHeading = "%nExamples:%n",
        footer = {"  zklock explore", "  zklock explore --recipe mutex --schedules 10000 --seed 7"})
public final class ExploreCommand implements Callable<Integer> {
    /** How many schedules are played between two lines of progress. */
    private static final int PORTION = 10_000;

    @Spec
    private CommandSpec spec;

    @Option(
            names = {"-n", "--schedules"},
            paramLabel = "N",
            defaultValue = "1000000",
            description = "how many schedules, shared by the recipes (default: ${DEFAULT-VALUE})")
    private int schedules;

    @Option(
            names = {"-s", "--seed"},
            paramLabel = "SEED",
            description = "the first seed; the others follow it (default: a fresh one)")
    private @Nullable Long seed;

    @Option(
            names = {"-r", "--recipe"},
            paramLabel = "RECIPE",
            description = "one of ${COMPLETION-CANDIDATES}; may be repeated (default: all)")
    private List<RecipeToExplore> recipes = List.of(RecipeToExplore.values());

    @Option(
            names = {"-c", "--clients"},
            paramLabel = "N",
            defaultValue = "3",
            description = "how many processes contend (default: ${DEFAULT-VALUE})")
    private int clients;

    private ExploreCommand() {}

    @Override
    public Integer call() {
        if (schedules < 1 || clients < 1) {
            throw new ParameterException(spec.commandLine(), "--schedules and --clients must be at least 1");
        }
        // The schedules are full of expired sessions, each of which would log a warning.
        System.setProperty("org.slf4j.simpleLogger.log.dev.zkrecipes.core", "error");
        long first = seed != null ? seed : new SecureRandom().nextLong() >>> 16;
        int each = Math.max(1, schedules / recipes.size());
        PrintWriter out = spec.commandLine().getOut();
        for (RecipeToExplore recipe : recipes) {
            Optional<Violation> broken = explore(recipe, first, each);
            if (broken.isPresent()) {
                out.printf(
                        "%s%nAgain: bin/explore --recipe %s --clients %d --schedules 1 --seed %d%n",
                        broken.get(), recipe, clients, broken.get().seed());
                out.flush();
                return ExitCode.SOFTWARE;
            }
        }
        out.println("no promise was broken");
        out.flush();
        return ExitCode.OK;
    }

    /** All processors take part: each seed is a schedule of its own. */
    private Optional<Violation> explore(RecipeToExplore recipe, long first, int count) {
        ExploredLock lock = recipe.lock();
        Explorer explorer = Explorer.of(lock).withClients(clients);
        PrintWriter out = spec.commandLine().getOut();
        long begin = System.nanoTime();
        for (int played = 0; played < count; played += PORTION) {
            int portion = Math.min(PORTION, count - played);
            Optional<Violation> broken = LongStream.range(first + played, first + played + portion)
                    .parallel()
                    .mapToObj(explorer::play)
                    .flatMap(Optional::stream)
                    .findFirst();
            if (broken.isPresent()) {
                return broken.map(explorer::shrink);
            }
        }
        Duration time = Duration.ofNanos(System.nanoTime() - begin);
        out.printf(
                Locale.ROOT,
                "%-44s %,9d schedules from seed %d on in %.1f s (%,.0f a second)%n",
                lock.name(),
                count,
                first,
                time.toMillis() / 1e3,
                count * 1e3 / Math.max(1, time.toMillis()));
        out.flush();
        return Optional.empty();
    }
}
