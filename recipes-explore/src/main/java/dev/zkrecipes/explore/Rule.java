// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import java.util.List;

/**
 * What a lock promises, stated without its driver so that it can judge the driver: which requests may hold together.
 *
 * <pre>{@code
 * Rule mutex = (front, self) -> front.isEmpty();
 * Rule readWrite = (front, self) -> self.startsWith("__READ__") ? !front.contains("__WRIT__") : front.isEmpty();
 * }</pre>
 */
@FunctionalInterface
public interface Rule {
    /**
     * {@return whether a node may hold} Of a fair lock, {@code front} are all that came before; of what holds at one
     * time, those that hold.
     *
     * @param front the names, without id and number, of the nodes in front of it, in order
     * @param self its own
     */
    boolean mayHold(List<String> front, String self);
}
