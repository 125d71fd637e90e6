// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;

/** The part of a demo that depends on the recipe, if its holders write a {@link Ledger}. */
interface Show {
    /** The work of the workers, in one line. */
    String intro();

    /** The rule, in a few words: what never happens. */
    String rule();

    /** Whether holders of these shares may be in at the same time. */
    boolean mayBeTogether(Collection<String> shares);

    /** How many, or how much, these shares are together. */
    long size(Collection<String> shares);

    /** Creates the files of the workers. */
    void prepare(Path folder) throws IOException;

    /** The content of the files after the run. */
    List<Check> evidence(Path folder) throws IOException;

    /** The part of one worker process. */
    Player player(ZooKeeperClient client, String lockPath, Path folder);

    /** Chooses what a worker does next. */
    @FunctionalInterface
    interface Player {
        /**
         * The next act.
         *
         * @param alone whether nobody may be in at the same time
         */
        Act next(boolean alone);
    }

    /**
     * One thing to do.
     *
     * @param lock the lock to hold
     * @param share the share to write into the ledger
     * @param work what to do while holding it
     */
    record Act(InterProcessLock lock, String share, Work work) {}

    /** The work under the lock. */
    @FunctionalInterface
    interface Work {
        /**
         * Works.
         *
         * @param lease the hold; may be closed early, after {@code presence} was told
         */
        void run(Lease lease, Presence presence) throws IOException, InterruptedException;
    }
}
