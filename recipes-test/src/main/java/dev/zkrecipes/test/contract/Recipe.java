// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import java.util.List;
import java.util.Objects;

/**
 * What the suites need to know about a recipe: how to create the lock under test, and how to create a lock that
 * conflicts with it.
 *
 * @param lock creates the lock under test
 * @param rival creates a lock that can never be held together with the lock under test; its node is in the first queue
 * @param ownership who owns the holds of the lock under test
 * @param queues the queues, with one node of each request in each of them, as suffixes to the path of the lock, such as
 *     {@code ""} or {@code "/a"}
 * @param localHandoffs whether requests of one client share a node, so that requests are granted in order only within a
 *     client
 */
public record Recipe(Maker lock, Maker rival, Ownership ownership, List<String> queues, boolean localHandoffs) {

    /**
     * Creates a recipe.
     *
     * @param lock creates the lock under test
     * @param rival creates a lock that can never be held together with the lock under test
     * @param ownership who owns the holds of the lock under test
     * @param queues the queues, as suffixes to the path of the lock; at least one
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

    /** Creates a lock on a path. */
    @FunctionalInterface
    public interface Maker {
        /**
         * {@return a new lock}
         *
         * @param client the client to use
         * @param path the path, which only locks of this recipe use
         * @param options optional settings
         */
        InterProcessLock make(ZooKeeperClient client, String path, LockOptions options);
    }

    /**
     * {@return a recipe for a lock with one holder at a time, and with its nodes directly below its path} Such a lock
     * is its own rival.
     *
     * @param lock creates the lock
     * @param ownership who owns its holds
     */
    public static Recipe exclusive(Maker lock, Ownership ownership) {
        return rivals(lock, lock, ownership);
    }

    /**
     * {@return a recipe for two kinds of lock on one path, with their nodes directly below that path}
     *
     * @param lock creates the lock under test
     * @param rival creates a lock that can never be held together with the lock under test
     * @param ownership who owns the holds of the lock under test
     */
    public static Recipe rivals(Maker lock, Maker rival, Ownership ownership) {
        return new Recipe(lock, rival, ownership, List.of(""), false);
    }

    /**
     * {@return this recipe for a lock that has its nodes elsewhere, or several nodes for each request}
     *
     * @param paths the suffixes to the path of the lock; the node of the rival is below the first
     */
    public Recipe withQueues(String... paths) {
        return new Recipe(lock, rival, ownership, List.of(paths), localHandoffs);
    }

    /**
     * {@return this recipe for a lock that is handed over inside the process} Requests of one client share a node and
     * are granted in their order, but requests of different clients are not.
     */
    public Recipe withLocalHandoffs() {
        return new Recipe(lock, rival, ownership, queues, true);
    }
}
