// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import dev.zkrecipes.explore.sim.NodeTree;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Determines whose turn it is, or ever was, under the rules that have been in force.
 *
 * <p>A node had its turn if there was a moment at which the rule let it hold behind the nodes in front of it. While a
 * rule is in force, the nodes in front only become fewer. So it is enough to look at the end of each rule.
 */
final class Turns {
    private final Rule initial;
    private final @Nullable ChangingRule changing;
    private final Map<String, List<InForce>> rules = new HashMap<>(); // by path; the last one is in force
    private final Set<String> had = new HashSet<>(); // nodes that had their turn under an earlier rule
    private final LongSupplier now;

    /** A rule, and when it came into force. */
    private record InForce(Rule rule, long since) {}

    Turns(ExploredLock lock, LongSupplier now) {
        this.now = now;
        this.initial = lock.rule();
        this.changing = lock.changingRule();
    }

    void onCommit(NodeTree before, NodeTree after) {
        if (changing == null) {
            return;
        }
        String path = ExploredLock.PATH;
        Optional<byte[]> rule = after.data(path);
        if (rule.isPresent() && !Arrays.equals(rule.get(), before.data(path).orElse(null))) {
            before.children(path).stream()
                    .flatMap(name -> QueuedNode.of(path, name).stream())
                    .filter(place -> isNow(place, before))
                    .forEach(place -> had.add(place.path()));
            rules.computeIfAbsent(path, absent -> new ArrayList<>())
                    .add(new InForce(changing.under().apply(rule.get()), now.getAsLong()));
        }
    }

    /** Whether the present rule lets the node hold. */
    boolean isNow(QueuedNode place, NodeTree tree) {
        List<InForce> known = of(place.lockPath());
        return known.get(known.size() - 1).rule().mayHold(inFrontOf(place, tree), place.kind());
    }

    /** Whether the present rule lets the node hold, or an earlier rule did. */
    boolean everWas(QueuedNode place, NodeTree tree) {
        return had.contains(place.path()) || isNow(place, tree);
    }

    /**
     * Whether any rule that was ever in force lets a node hold behind these: the nodes may have been granted under
     * different rules.
     */
    boolean everMayHold(String lockPath, List<String> front, String kind) {
        return of(lockPath).stream().anyMatch(known -> known.rule().mayHold(front, kind));
    }

    /** Whether a rule that was in force at that time or later lets no request of this kind hold, not even alone. */
    boolean neverMayHold(String kind, long since) {
        List<InForce> known = of(ExploredLock.PATH);
        for (int i = known.size() - 1; i >= 0; i--) {
            if (!known.get(i).rule().mayHold(List.of(), kind)) {
                return true;
            }
            if (known.get(i).since() < since) {
                return false; // earlier rules had ended by then
            }
        }
        return false;
    }

    private List<InForce> of(String lockPath) {
        return rules.getOrDefault(lockPath, List.of(new InForce(initial, 0)));
    }

    static List<String> inFrontOf(QueuedNode place, NodeTree tree) {
        return tree.children(place.lockPath()).stream()
                .flatMap(name -> QueuedNode.of(place.lockPath(), name).stream())
                .filter(other -> isInFront(other, place, tree))
                .sorted()
                .map(QueuedNode::kind)
                .toList();
    }

    /**
     * Whether one node stands in front of another. Two nodes with the same number in one session result from a change
     * of mode, and neither stands in front. In different sessions, each counts as standing in front of the other.
     */
    static boolean isInFront(QueuedNode other, QueuedNode place, NodeTree tree) {
        return other.number() < place.number()
                || (other.number() == place.number()
                        && !tree.owner(other.path()).equals(tree.owner(place.path())));
    }
}
