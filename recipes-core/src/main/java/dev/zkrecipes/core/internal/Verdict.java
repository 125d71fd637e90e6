// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.ZooKeeperOperations.Content;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** What a look means for a request: the decisions of the drivers of all its locks, taken together. */
sealed interface Verdict {

    /** All grant. */
    record Granted() implements Verdict {}

    /**
     * At least one does not grant, and will not until one of these nodes is gone or one of these rules has changed. Of
     * several locks that do not grant, the first is waited for: until that changes, the others cannot change the verdict.
     *
     * @param nodes paths of nodes
     * @param rules paths whose data the driver decided by, and the version of it
     */
    record Wait(Set<String> nodes, Map<String, RuleVersion> rules) implements Verdict {}

    /** One never will. */
    record Never(String lockPath, String reason) implements Verdict {
        LockRefusedException refusal() {
            return new LockRefusedException("the lock " + lockPath + " refuses this request: " + reason);
        }
    }

    /** One of the request's nodes is not there. */
    record Vanished() implements Verdict {}

    /**
     * On the nodes that a request has in the queues, one in each.
     *
     * @throws LockException as {@link LockQueue}
     */
    static Verdict onOwn(LockTargets targets, List<QueueNode> nodes, Look look) {
        Map<String, String> own = new HashMap<>();
        for (QueueNode node : nodes) {
            own.put(node.lockPath(), node.name());
        }
        for (LockTarget target : targets.all()) {
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
    static Verdict onNewcomer(LockTargets targets, Look look) {
        return together(targets, look, target -> look.queue(target).decide(target.hypotheticalLast()));
    }

    private static Verdict together(LockTargets targets, Look look, Function<LockTarget, Decision> decide) {
        Verdict verdict = new Granted();
        for (LockTarget target : targets.all()) {
            Decision decision = decide.apply(target);
            if (decision instanceof Decision.Never never) {
                return new Never(target.path(), never.reason());
            } else if (decision instanceof Decision.WaitFor wait && verdict instanceof Granted) {
                verdict = new Wait(paths(target, wait.nodes()), rules(target, look));
            }
        }
        return verdict;
    }

    private static Set<String> paths(LockTarget target, List<LockNode> nodes) {
        Set<String> paths = new HashSet<>();
        nodes.forEach(node -> paths.add(LockPath.child(target.path(), node.name())));
        return paths;
    }

    private static Map<String, RuleVersion> rules(LockTarget target, Look look) {
        Optional<Content> rule = target.hasSharedRule() ? look.rule(target.path()) : Optional.empty();
        return rule.map(content -> Map.of(target.path(), RuleVersion.of(content.stat())))
                .orElse(Map.of());
    }
}
