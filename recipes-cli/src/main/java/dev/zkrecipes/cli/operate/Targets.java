// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.text.PlainText;
import dev.zkrecipes.core.LockException;
import java.util.ArrayList;
import java.util.List;

/** Whom a command means: all holders of a lock, or the nodes that were named. */
final class Targets {
    private Targets() {}

    /**
     * Those whom the command line means.
     *
     * @param lock what stands at the path
     * @param names names of nodes; none means all holders
     * @throws LockException if that cannot be told
     */
    static List<Place> in(LockView lock, List<String> names) {
        if (names.isEmpty()) {
            requireKnownHolders(lock);
            return lock.holders();
        }
        List<Place> named = new ArrayList<>();
        for (String name : names) {
            named.add(lock.places().stream()
                    .filter(place -> place.node().equals(name))
                    .findFirst()
                    .orElseThrow(() -> new LockException("no node " + PlainText.of(name) + " stands in the queue of "
                            + lock.path() + ": it is gone, or was never there; see zklock ls " + lock.path())));
        }
        return named;
    }

    private static void requireKnownHolders(LockView lock) {
        boolean known = switch (lock.recipe()) {
            case NONE, MUTEX, READ_WRITE, CURATOR_SEMAPHORE -> true;
            case SEMAPHORE -> lock.limit().isPresent();
            case MIXED, UNKNOWN -> false;
        };
        if (!known) {
            throw new LockException("it cannot be told who holds " + lock.path() + " (" + lock.recipe()
                    + "): name the nodes with --node, as zklock ls " + lock.path() + " shows them");
        }
    }

    /** Who somebody is, for people. */
    static String describe(Place place) {
        return PlainText.of(place.data().owner()) + " (" + PlainText.of(place.node()) + ")";
    }
}
