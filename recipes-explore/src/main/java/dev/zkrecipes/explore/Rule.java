// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import java.util.List;

/**
 * What a lock promises: which requests may hold it together. The rule is stated without the driver of the lock, so
 * that it can judge the driver.
 *
 * <pre>{@code
 * Rule mutex = (front, self) -> front.isEmpty();
 * Rule readWrite = (front, self) -> self.startsWith("__READ__") ? !front.contains("__WRIT__") : front.isEmpty();
 * }</pre>
 */
@FunctionalInterface
public interface Rule {
    /**
     * {@return whether a node may hold the lock} To check fairness, {@code front} are all earlier nodes; to check
     * exclusion, they are the nodes that hold at the same time.
     *
     * @param front the names of the nodes in front, without id and number, in order
     * @param self the name of the node itself, without id and number
     */
    boolean mayHold(List<String> front, String self);
}
