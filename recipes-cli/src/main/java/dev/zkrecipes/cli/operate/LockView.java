// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import java.util.List;
import java.util.Optional;

/**
 * The state of one path.
 *
 * @param path the path
 * @param exists whether there is such a node
 * @param recipe what it is, as far as its nodes tell
 * @param limit of a semaphore, if its node tells
 * @param places its nodes in order
 * @param notes remarks for readers, each a sentence fit for a terminal
 */
record LockView(
        String path, boolean exists, SeenRecipe recipe, Optional<Limit> limit, List<Place> places, List<String> notes) {

    LockView {
        places = List.copyOf(places);
        notes = List.copyOf(notes);
    }

    /** The number of nodes in this state. */
    int count(Standing standing) {
        return (int)
                places.stream().filter(place -> place.standing() == standing).count();
    }

    /** The number of permits that these nodes hold or wait for. */
    long weight(Standing standing) {
        return places.stream()
                .filter(place -> place.standing() == standing)
                .mapToLong(Place::weight)
                .sum();
    }

    List<Place> holders() {
        return places.stream().filter(Place::holds).toList();
    }
}
