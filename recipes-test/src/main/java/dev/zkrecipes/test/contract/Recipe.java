// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import java.util.List;
import java.util.Objects;

/**
 * What a recipe brings to the suites: how to make the lock under test, and one that conflicts with it.
 *
 * @param lock makes the lock under test
 * @param rival makes a lock that can never be held together with it; its node stands on the first of the queues
 * @param ownership whom the holds of the lock under test belong to
 * @param queues where the nodes of the lock under test stand, one on each: paths to be added to that of the lock, such
 *     as {@code ""} or {@code "/a"}
 * @param localHandoffs whether requests of one client share a node, so that only those of one client are granted in
 *     order
 */
public record Recipe(Maker lock, Maker rival, Ownership ownership, List<String> queues, boolean localHandoffs) {

    /**
     * Makes a recipe.
     *
     * @param lock makes the lock under test
     * @param rival makes a lock that can never be held together with it
     * @param ownership whom the holds of the lock under test belong to
     * @param queues where its nodes stand, at least one
     * @param localHandoffs whether requests of one client share a node
     * @throws IllegalArgumentException if there is no queue
     */
    public Recipe {
        Objects.requireNonNull(lock, "lock");
        Objects.requireNonNull(rival, "rival");
        Objects.requireNonNull(ownership, "ownership");
        queues = List.copyOf(Objects.requireNonNull(queues, "queues"));
        if (queues.isEmpty()) {
            throw new IllegalArgumentException("a lock without a queue");
        }
    }

    /** Makes a lock on a path. */
    @FunctionalInterface
    public interface Maker {
        /**
         * {@return a new instance}
         *
         * @param client what it works on
         * @param path the path, which it may use as it likes
         * @param options how it behaves
         */
        InterProcessLock make(ZooKeeperClient client, String path, LockOptions options);
    }

    /**
     * {@return a lock of which only one can be held at a time: it is its own rival; on one queue, that of the path}
     *
     * @param lock makes it
     * @param ownership whom its holds belong to
     */
    public static Recipe exclusive(Maker lock, Ownership ownership) {
        return rivals(lock, lock, ownership);
    }

    /**
     * {@return two kinds of lock on one path, on one queue, that of the path}
     *
     * @param lock makes the lock under test
     * @param rival makes a lock that can never be held together with it
     * @param ownership whom the holds of the lock under test belong to
     */
    public static Recipe rivals(Maker lock, Maker rival, Ownership ownership) {
        return new Recipe(lock, rival, ownership, List.of(""), false);
    }

    /**
     * {@return this recipe with nodes elsewhere, for a lock that makes several}
     *
     * @param paths what is added to the path; the rival stands on the first
     */
    public Recipe withQueues(String... paths) {
        return new Recipe(lock, rival, ownership, List.of(paths), localHandoffs);
    }

    /**
     * {@return this recipe for a lock that passes on inside the process: requests of one client share a node and are
     * granted in their order, but those of different clients are not}
     */
    public Recipe withLocalHandoffs() {
        return new Recipe(lock, rival, ownership, queues, true);
    }
}
