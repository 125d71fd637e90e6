// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.queue;

import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockNode;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** The meaning of a list for a request: the decisions of the drivers of all its locks, taken together. */
public sealed interface JointDecision {

    JointDecision GRANTED = new Granted();

    record Granted() implements JointDecision {}

    /** At least one driver does not grant; these are the decisions on each lock of the group. */
    record Wait(List<Decision> each) implements JointDecision {}

    record Never(String lockPath, String reason) implements JointDecision {
        public LockRefusedException refusal() {
            return new LockRefusedException("the lock " + lockPath + " refuses this request: " + reason);
        }
    }

    /** One of the request's nodes is not there. */
    record Vanished() implements JointDecision {}

    /** On the nodes that a request has in the queues, one in each. */
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

    /** On a request that would queue now; nodes with {@code leaving} names below a path will be gone by then. */
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
