// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import com.google.common.base.Preconditions;
import java.util.List;
import java.util.Objects;

/** The answer of a {@link LockDriver}. */
public sealed interface Decision {

    /** The node holds the lock. */
    record Granted() implements Decision {
        private static final Granted INSTANCE = new Granted();
    }

    /**
     * The node waits; at least one of {@code nodes} must be deleted before the answer can change.
     *
     * @param nodes some of the predecessors, not empty
     */
    record WaitFor(List<LockNode> nodes) implements Decision {
        /**
         * Creates the decision.
         *
         * @param nodes some of the predecessors, not empty
         * @throws IllegalArgumentException if {@code nodes} is empty
         */
        public WaitFor {
            Objects.requireNonNull(nodes, "nodes");
            Preconditions.checkArgument(!nodes.isEmpty(), "a request that waits for nothing would wait forever");
            nodes = List.copyOf(nodes);
        }
    }

    /**
     * The node can never be granted, whatever is in front of it.
     *
     * @param reason the explanation for the user
     */
    record Never(String reason) implements Decision {
        /**
         * Creates the decision.
         *
         * @param reason the explanation for the user
         */
        public Never {
            Objects.requireNonNull(reason, "reason");
        }
    }

    /** {@return the decision that the node holds the lock} */
    static Decision granted() {
        return Granted.INSTANCE;
    }

    /**
     * {@return the decision that the node holds the lock if no node is in front of it; otherwise that it waits for the
     * nearest one}
     *
     * @param predecessors the nodes in front of it, in order
     */
    static Decision grantedIfFirst(List<LockNode> predecessors) {
        Objects.requireNonNull(predecessors, "predecessors");
        return predecessors.isEmpty() ? granted() : waitFor(predecessors.get(predecessors.size() - 1));
    }

    /**
     * {@return the decision that the node waits for one node to vanish}
     *
     * @param node one of the predecessors
     */
    static Decision waitFor(LockNode node) {
        return new WaitFor(List.of(Objects.requireNonNull(node, "node")));
    }

    /**
     * {@return the decision that the node waits until at least one of these vanishes}
     *
     * @param nodes some of the predecessors, not empty
     */
    static Decision waitFor(List<LockNode> nodes) {
        return new WaitFor(nodes);
    }

    /**
     * {@return the decision that the node can never be granted, whatever is in front of it}
     *
     * @param reason the explanation for the user
     */
    static Decision never(String reason) {
        return new Never(reason);
    }
}
