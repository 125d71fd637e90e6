// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.schedules.faults;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.explore.Explorer;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The same schedules every time, 4,800; {@code bin/explore} plays fresh ones, and {@code bin/soak} 200,000. */
class ExploreRecipesTest {
    private static final int SCHEDULES = 300;

    private static Set<String> recipes() {
        return Recipes.all().keySet();
    }

    private static Explorer explorerOf(String recipe) {
        return Explorer.of(requireNonNull(Recipes.all().get(recipe)));
    }

    @ParameterizedTest
    @MethodSource("recipes")
    void everyRecipe_keepsItsPromises(String recipe) {
        Explorer explorer = explorerOf(recipe);
        assertThat(explorer.explore(1, SCHEDULES).map(explorer::shrink)).isEmpty();
    }
}
