// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.bench.contender.Subject;
import dev.zkrecipes.bench.faults.FaultPlan.Kind;
import dev.zkrecipes.bench.faults.FaultPlan.Step;
import dev.zkrecipes.bench.faults.Tenure.Outcome;
import dev.zkrecipes.test.internal.Seed;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every recipe of this library under the faults of {@code bin/faults}: no guarded write is lost, no late one gets
 * through, no lease claims to be valid after another client was granted, all are served afterwards, no call fails, and
 * nothing is left.
 *
 * <p>{@code -Dfaults.seconds=180} runs for longer. {@code -Dzkrecipes.seed=N} repeats the faults of a run.
 */
@Tag("soak")
@Timeout(1200)
class RecipesUnderFaultsIT {
    private final Duration length = Duration.ofSeconds(Integer.getInteger("faults.seconds", 60));

    /** Where followers give up a silent leader before a session ends, and where they serve for longer than that. */
    @ParameterizedTest
    @ValueSource(ints = {5, 50})
    @Tag("H07")
    @Tag("H08")
    @Tag("H25")
    @Tag("H57")
    void promisesOfEveryRecipe_areKept(int syncLimit) throws Exception {
        Seed seed = Seed.forTest("RecipesUnderFaultsIT");
        try (Arena arena = new Arena(List.of(RecipeUnderFaults.values()), seed.value(), syncLimit)) {
            stopEachClient(arena);
            arena.playFor(length, new PrintWriter(System.out, true));
            Arena.Judgement judgement = arena.finish();
            assertThat(judgement.verdicts()).allSatisfy(verdict -> {
                System.out.println(verdict.subject() + ": " + verdict.figures());
                assertThat(verdict.violations()).as("%s", verdict.subject()).isEmpty();
                assertThat(verdict.figures()).as("%s", verdict.subject()).containsEntry("calls that failed", "0");
                assertThat(guardedWrites(judgement, verdict.subject()))
                        .as("%s", verdict.subject())
                        .contains(Outcome.DONE);
            });
            assertThat(judgement.verdicts().stream().flatMap(each -> guardedWrites(judgement, each.subject())))
                    .as("late writes, which the guard refused")
                    .contains(Outcome.REFUSED);
        }
    }

    /** For longer than its sessions last, so that what it holds is another's when it goes on and writes. */
    private static void stopEachClient(Arena arena) throws Exception {
        Duration time = FaultClient.SESSION.multipliedBy(3).dividedBy(2);
        for (int client = 0; client < Arena.CLIENTS; client++) {
            arena.play(new Step(Kind.STOP_CLIENT, client, time, Duration.ofSeconds(1)));
        }
    }

    private static Stream<Outcome> guardedWrites(Arena.Judgement judgement, Subject subject) {
        return judgement.evidence().tenures().stream()
                .filter(tenure -> tenure.subject() == subject)
                .map(tenure -> tenure.writes().get(2));
    }
}
