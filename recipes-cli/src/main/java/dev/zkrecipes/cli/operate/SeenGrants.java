// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.core.spi.PathView;
import dev.zkrecipes.core.spi.PathView.Place;
import dev.zkrecipes.core.spi.PathView.State;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * When the holders got what they hold, for those that somebody saw get it: ZooKeeper keeps only when they queued. Not
 * thread-safe.
 */
final class SeenGrants {
    private final Map<String, Instant> since = new HashMap<>();
    private Set<String> holding = new HashSet<>();
    private boolean begun;

    /** Takes the next state into account. */
    void see(Tree tree) {
        Set<String> now = new HashSet<>();
        tree.locks().forEach(lock -> lock.in(State.HOLDS).forEach(place -> now.add(key(lock.view(), place))));
        for (String key : now) {
            if (begun && !holding.contains(key)) {
                since.put(key, tree.seen());
            }
        }
        since.keySet().retainAll(now);
        holding = now;
        begun = true;
    }

    Optional<Instant> since(PathView view, Place place) {
        return Optional.ofNullable(since.get(key(view, place)));
    }

    private static String key(PathView view, Place place) {
        return view.path() + '/' + place.node().name();
    }
}
