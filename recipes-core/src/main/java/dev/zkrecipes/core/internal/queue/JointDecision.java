// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.queue;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.internal.node.OwnNode;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** What a look means for a request: the decisions of the drivers of all its locks, taken together. */
public sealed interface JointDecision {

    /** All grant. */
    record Granted() implements JointDecision {}

    /**
     * At least one does not grant, and will not until one of these nodes is gone or one of these rules has changed. Of
     * several locks that do not grant, the first is waited for: until that changes, the others cannot change the verdict.
     *
     * @param nodes paths of nodes
     * @param rules paths whose data the driver decided by, and the version of it
     */
    record Wait(Set<String> nodes, Map<String, RuleVersion> rules) implements JointDecision {}

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
    static JointDecision onOwn(LockGroup targets, List<OwnNode> nodes, ChildrenSnapshot look) {
        Map<String, String> own = new HashMap<>();
        for (OwnNode node : nodes) {
            own.put(node.lockPath(), node.name());
        }
        for (LockSpec target : targets.all()) {
            if (!look.queue(target).contains(own.get(target.path()))) {
                return new Vanished();
            }
        }
        return together(targets, look, target -> look.queue(target).decideOnOwn(own.get(target.path())));
    }

    /**
     * On a request that would queue now.
     *
     * @throws LockException as {@link LockQueue}
     */
    static JointDecision onNewcomer(LockGroup targets, ChildrenSnapshot look) {
        return together(targets, look, target -> look.queue(target).decide(target.hypotheticalLast()));
    }

    private static JointDecision together(
            LockGroup targets, ChildrenSnapshot look, Function<LockSpec, Decision> decide) {
        JointDecision verdict = new Granted();
        for (LockSpec target : targets.all()) {
            Decision decision = decide.apply(target);
            if (decision instanceof Decision.Never never) {
                return new Never(target.path(), never.reason());
            } else if (decision instanceof Decision.WaitFor wait && verdict instanceof Granted) {
                verdict = new Wait(paths(target, wait.nodes()), rules(target, look));
            }
        }
        return verdict;
    }

    private static Set<String> paths(LockSpec target, List<LockNode> nodes) {
        Set<String> paths = new HashSet<>();
        nodes.forEach(node -> paths.add(LockPath.child(target.path(), node.name())));
        return paths;
    }

    private static Map<String, RuleVersion> rules(LockSpec target, ChildrenSnapshot look) {
        Optional<Content> rule = target.hasSharedRule() ? look.rule(target.path()) : Optional.empty();
        return rule.map(content -> Map.of(target.path(), RuleVersion.of(content.stat())))
                .orElse(Map.of());
    }
}
