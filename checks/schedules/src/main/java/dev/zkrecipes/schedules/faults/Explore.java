// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.schedules.faults;

import static java.util.Objects.requireNonNull;

import dev.zkrecipes.explore.ExploredLock;
import dev.zkrecipes.explore.Explorer;
import dev.zkrecipes.explore.Violation;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Plays schedules of the recipes, for {@code bin/explore}: {@code Explore SCHEDULES SEED CLIENTS [RECIPE...]}. */
public final class Explore {
    private Explore() {}

    /**
     * Explores the recipes. Exits with status 1 if a promise is broken, and with 2 if there is no such recipe.
     *
     * @param args the arguments in the comment of this class
     */
    public static void main(String[] args) {
        Map<String, ExploredLock> all = Recipes.all();
        Collection<String> recipes = all.keySet();
        if (args.length > 3) {
            recipes = List.of(args).subList(3, args.length).stream()
                    .map(name -> name.toUpperCase(Locale.ROOT))
                    .toList();
        }
        if (!all.keySet().containsAll(recipes)) {
            System.err.println("recipes are " + String.join(", ", all.keySet()));
            System.exit(2);
        }
        int each = Math.max(1, Integer.parseInt(args[0]) / recipes.size());
        long seed = Long.parseLong(args[1]);
        int clients = Integer.parseInt(args[2]);
        for (String recipe : recipes) {
            Explorer explorer = Explorer.of(requireNonNull(all.get(recipe))).withClients(clients);
            long begin = System.nanoTime();
            Optional<Violation> broken = explorer.explore(seed, each);
            if (broken.isPresent()) {
                System.out.println(explorer.shrink(broken.get()));
                System.out.printf(
                        "Again: bin/explore --recipe %s --clients %d --schedules 1 --seed %d%n",
                        recipe, clients, broken.get().seed());
                System.exit(1);
            }
            double seconds = (System.nanoTime() - begin) / 1e9;
            System.out.printf(
                    Locale.ROOT,
                    "%-24s %,9d schedules from seed %d on in %.1f s (%,.0f a second)%n",
                    recipe,
                    each,
                    seed,
                    seconds,
                    each / seconds);
        }
        System.out.println("no promise was broken");
    }
}
