// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import dev.zkrecipes.core.ZooKeeperClient;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/**
 * A rule stored in the data of the lock's node, which any process may change at any time, as with a
 * {@link dev.zkrecipes.core.spi.SharedRuleDriver}. An example is the limit of a semaphore.
 *
 * <pre>{@code
 * ChangingRule limits = new ChangingRule(
 *         data -> atMost(limitIn(data)),
 *         List.of("lease.1-", "lease.2-"),
 *         List.of(
 *                 (client, path) -> semaphore(client, path).resize(1),
 *                 (client, path) -> semaphore(client, path).resize(4)));
 * }</pre>
 *
 * @param under what the lock promises while its node has this data
 * @param kinds the kinds of the locks that the maker creates, in the same order: their node names without id and number
 * @param changes what a process may do to the rule
 */
public record ChangingRule(Function<byte[], Rule> under, List<String> kinds, List<Change> changes) {

    /** A change of the rule. */
    @FunctionalInterface
    public interface Change {
        /**
         * Changes the rule, and returns when the change has been made.
         *
         * @param client the client of the process
         * @param path the path of the lock
         * @throws InterruptedException if the thread is interrupted while it waits
         */
        void make(ZooKeeperClient client, String path) throws InterruptedException;
    }

    /**
     * Creates a changing rule.
     *
     * @param under what the lock promises while its node has this data
     * @param kinds the kinds of the locks that the maker creates; copied
     * @param changes what a process may do to the rule; copied
     */
    public ChangingRule {
        Objects.requireNonNull(under, "under");
        kinds = List.copyOf(Objects.requireNonNull(kinds, "kinds"));
        changes = List.copyOf(Objects.requireNonNull(changes, "changes"));
    }
}
