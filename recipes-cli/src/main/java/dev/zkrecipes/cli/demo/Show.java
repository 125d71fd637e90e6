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

/** What is particular to a recipe whose holders write a {@link Ledger}. */
interface Show {
    /** What the workers do, in one line. */
    String intro();

    /** The rule, in a few words: what never happens. */
    String rule();

    /** Whether those who have these shares may be in at the same time. */
    boolean mayBeTogether(Collection<String> shares);

    /** How many, or how much, these shares are together. */
    long size(Collection<String> shares);

    /** Makes the files that the workers work on. */
    void prepare(Path folder) throws IOException;

    /** What the files say after the run. */
    List<Check> evidence(Path folder) throws IOException;

    /** The part of one worker process. */
    Player player(ZooKeeperClient client, String lockPath, Path folder);

    /** Thinks out what a worker does next. */
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
     * @param lock what to hold for it
     * @param share what the ledger says of it
     * @param work what to do, while holding
     */
    record Act(InterProcessLock lock, String share, Work work) {}

    /** What is done while the lock is held. */
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
