// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import com.google.common.base.Preconditions;
import java.util.List;
import java.util.Objects;

/** What a {@link LockDriver} answers. */
public sealed interface Decision {

    /** The node holds the lock. */
    record Granted() implements Decision {
        private static final Granted INSTANCE = new Granted();
    }

    /**
     * The node waits; at least one of {@code nodes} must vanish before the answer can change.
     *
     * @param nodes some of the predecessors, not empty
     */
    record WaitFor(List<LockNode> nodes) implements Decision {
        /**
         * Makes the decision.
         *
         * @param nodes some of the predecessors, not empty
         * @throws IllegalArgumentException if there are none
         */
        public WaitFor {
            Objects.requireNonNull(nodes, "nodes");
            Preconditions.checkArgument(!nodes.isEmpty(), "a request that waits for nothing would wait forever");
            nodes = List.copyOf(nodes);
        }
    }

    /**
     * The node can never be granted, whoever is in front of it.
     *
     * @param reason what the user is told
     */
    record Never(String reason) implements Decision {
        /**
         * Makes the decision.
         *
         * @param reason what the user is told
         */
        public Never {
            Objects.requireNonNull(reason, "reason");
        }
    }

    /** {@return that the node holds the lock} */
    static Decision granted() {
        return Granted.INSTANCE;
    }

    /**
     * {@return that the node holds the lock if nobody is in front of it; else that it waits for the nearest one}
     *
     * @param predecessors the nodes in front of it, in order
     */
    static Decision grantedIfFirst(List<LockNode> predecessors) {
        Objects.requireNonNull(predecessors, "predecessors");
        return predecessors.isEmpty() ? granted() : waitFor(predecessors.get(predecessors.size() - 1));
    }

    /**
     * {@return that the node waits for one node to vanish}
     *
     * @param node one of the predecessors
     */
    static Decision waitFor(LockNode node) {
        return new WaitFor(List.of(Objects.requireNonNull(node, "node")));
    }

    /**
     * {@return that the node waits until at least one of these vanishes}
     *
     * @param nodes some of the predecessors, not empty
     */
    static Decision waitFor(List<LockNode> nodes) {
        return new WaitFor(nodes);
    }

    /**
     * {@return that the node can never be granted, whoever is in front of it}
     *
     * @param reason what the user is told
     */
    static Decision never(String reason) {
        return new Never(reason);
    }
}
