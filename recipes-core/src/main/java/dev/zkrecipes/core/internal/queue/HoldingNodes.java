// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.queue;

import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.FifoDriver;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Which nodes of a queue hold the lock. A node that a change of mode put at the place of another one has the same
 * number, and neither stands in front of the other. A node that a shared rule refuses was let in under an earlier rule,
 * or leaves at once.
 *
 * <p>Each question to the driver may cost as much as there are nodes in front. By law 4 a {@link FifoDriver} grants the
 * nodes up to some place and none behind it, so that place is searched for. Only the nodes that share its number are
 * asked about one by one, and those behind it that are refused even with nobody in front of them.
 */
final class HoldingNodes {
    private final LockSpec spec;
    private final LockDriver driver;
    private final List<LockNode> nodes;

    HoldingNodes(LockSpec spec, LockDriver driver, List<LockNode> nodes) {
        this.spec = spec;
        this.driver = driver;
        this.nodes = nodes;
    }

    /** All of them; an error if the driver throws, or waits for what does not stand in front of a node. */
    Set<LockNode> find() {
        int doubtful = 0; // all in front of it are granted
        int waiting = nodes.size(); // from here on, none is granted
        if (driver instanceof FifoDriver) {
            int end = firstNotGranted();
            doubtful = startOfNumberAt(end - 1);
            waiting = endOfNumberAt(end);
        }
        Set<LockNode> holding = new HashSet<>();
        for (int place = 0; place < nodes.size(); place++) {
            LockNode node = nodes.get(place);
            boolean holds = place < doubtful || ((place < waiting || isRefusedAlone(node)) && holds(place));
            if (holds && node.hasOrdinaryNumber()) {
                holding.add(node);
            }
        }
        return holding;
    }

    /**
     * The place of a node that is not granted, right behind one that is. Only among equal numbers is there a choice.
     */
    private int firstNotGranted() {
        int low = 0;
        int high = nodes.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (decide(middle) instanceof Decision.Granted) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return high;
    }

    private boolean holds(int place) {
        Decision decision = decide(place);
        return decision instanceof Decision.Granted || (decision instanceof Decision.Never && spec.hasSharedRule());
    }

    private boolean isRefusedAlone(LockNode node) {
        return spec.hasSharedRule() && spec.decide(driver, List.of(), node) instanceof Decision.Never;
    }

    private Decision decide(int place) {
        return spec.decide(driver, nodes.subList(0, startOfNumberAt(place)), nodes.get(place));
    }

    /** The first place with the same number; in the order, equal numbers are neighbours. */
    private int startOfNumberAt(int place) {
        int start = Math.max(0, place);
        while (start > 0 && nodes.get(start - 1).number() == nodes.get(start).number()) {
            start--;
        }
        return start;
    }

    private int endOfNumberAt(int place) {
        int end = Math.min(nodes.size(), place + 1);
        while (end < nodes.size()
                && nodes.get(end).number() == nodes.get(end - 1).number()) {
            end++;
        }
        return end;
    }
}
