// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.queue;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.internal.session.ChildrenSnapshot;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockNode;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntFunction;

/** What a list means for a request: the decisions of the drivers of all its locks, taken together. */
public sealed interface JointDecision {

    /** All grant. */
    record Granted() implements JointDecision {}

    /** At least one does not grant. */
    record Wait() implements JointDecision {}

    /** One never will. */
    record Never(String lockPath, String reason) implements JointDecision {
        public LockRefusedException refusal() {
            return new LockRefusedException("the lock " + lockPath + " refuses this request: " + reason);
        }
    }

    /** One of the request's nodes is not there. */
    record Vanished() implements JointDecision {}

    /**
     * On the nodes that a request has in the queues, one in each.
     *
     * @throws LockException as {@link LockQueue}
     */
    static JointDecision onOwn(LockGroup group, List<LockNode> own, ChildrenSnapshot list) {
        for (int i = 0; i < own.size(); i++) {
            if (!LockQueue.in(list, group.all().get(i)).contains(own.get(i))) {
                return new Vanished();
            }
        }
        return together(group, i -> LockQueue.in(list, group.all().get(i)).decideOnOwn(own.get(i)));
    }

    /**
     * On a request that would queue now.
     *
     * @param leaving names of nodes below a path that will be gone by then
     * @throws LockException as {@link LockQueue}
     */
    static JointDecision onNewcomer(LockGroup group, ChildrenSnapshot list, Function<String, Set<String>> leaving) {
        return together(group, i -> {
            LockSpec spec = group.all().get(i);
            LockQueue queue = LockQueue.in(list, spec).without(leaving.apply(spec.path()));
            return queue.decide(spec.hypotheticalLast());
        });
    }

    private static JointDecision together(LockGroup group, IntFunction<Decision> decide) {
        JointDecision joint = new Granted();
        for (int i = 0; i < group.all().size(); i++) {
            Decision decision = decide.apply(i);
            if (decision instanceof Decision.Never never) {
                return new Never(group.all().get(i).path(), never.reason());
            } else if (decision instanceof Decision.WaitFor && joint instanceof Granted) {
                joint = new Wait();
            }
        }
        return joint;
    }
}
