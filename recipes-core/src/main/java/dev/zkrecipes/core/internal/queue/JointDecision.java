// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.queue;

import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockNode;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * What a list means for one request: the decisions of the drivers of all its locks, combined. A request for several
 * locks is granted only when every driver grants it. Computing a decision calls the drivers, so it throws what
 * {@link LockQueue} throws.
 */
public sealed interface JointDecision {

    JointDecision GRANTED = new Granted();

    record Granted() implements JointDecision {}

    /**
     * At least one driver does not grant the request. {@code each} has one decision for each lock of the group, in
     * its order.
     */
    record Wait(List<Decision> each) implements JointDecision {}

    /** One driver refuses the request for good, whoever is in front of it. */
    record Never(String lockPath, String reason) implements JointDecision {
        public LockRefusedException refusal() {
            return new LockRefusedException("the lock " + lockPath + " refuses this request: " + reason);
        }
    }

    /** One of the request's own nodes is missing from its queue, so the request has lost its place. */
    record Vanished() implements JointDecision {}

    /**
     * Decides on a request that is in the queues already: {@code own} are its nodes, one for each lock of the group,
     * in the group's order.
     */
    static JointDecision onOwn(LockGroup group, List<LockNode> own, ChildrenSnapshot list) {
        Decision[] each = new Decision[own.size()];
        for (int i = 0; i < each.length; i++) {
            Decision decision = list.queue(group.all().get(i)).decideOnOwn(own.get(i));
            if (decision == null) {
                return new Vanished();
            }
            each[i] = decision;
        }
        return together(group, each);
    }

    /**
     * Decides on a request that is not in any queue yet, as if it joined the end of each queue now. For the path of a
     * lock, {@code leaving} returns the names of listed nodes that this client is already deleting: their deletions
     * reach the server before the new node does, so they do not block it.
     */
    static JointDecision onNewcomer(LockGroup group, ChildrenSnapshot list, Function<String, Set<String>> leaving) {
        Decision[] each = new Decision[group.all().size()];
        for (int i = 0; i < each.length; i++) {
            LockSpec spec = group.all().get(i);
            Set<String> gone = leaving.apply(spec.path());
            LockQueue queue =
                    gone.isEmpty() ? list.queue(spec) : list.queue(spec).without(gone);
            each[i] = queue.decide(spec.hypotheticalLast());
        }
        return together(group, each);
    }

    private static JointDecision together(LockGroup group, Decision[] each) {
        boolean granted = true;
        for (int i = 0; i < each.length; i++) {
            if (each[i] instanceof Decision.Never never) {
                return new Never(group.paths().get(i), never.reason());
            }
            granted &= each[i] instanceof Decision.Granted;
        }
        return granted ? GRANTED : new Wait(List.of(each));
    }
}
