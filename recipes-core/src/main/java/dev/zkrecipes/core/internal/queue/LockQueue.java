// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.queue;

import dev.zkrecipes.core.IncompatibleNodeException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.internal.wire.Printable;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The nodes of a lock as one list showed them, in order. */
public final class LockQueue {
    private final LockSpec target;
    private final List<LockNode> nodes;
    private final Map<String, Integer> places;
    private final LockDriver driver;

    /**
     * Sorts the children of a lock's path.
     *
     * @param rule the data of the path; null if the path does not exist, or the driver's rule does not depend on it
     * @throws IncompatibleNodeException if one has the form of a lock node and is of no kind that the lock knows
     * @throws LockRefusedException if the driver throws
     */
    public LockQueue(LockSpec target, List<String> childNames, byte @Nullable [] rule) {
        this.target = target;
        this.driver = target.driverUnder(rule);
        this.nodes = new ArrayList<>(childNames.size());
        this.places = new HashMap<>(childNames.size() * 2);
        for (String name : childNames) {
            Optional<LockNode> node = target.parse(name);
            if (node.isPresent()) {
                nodes.add(node.get());
            } else if (LockNode.isLockForm(name)) {
                throw new IncompatibleNodeException("the lock path " + target.path() + " holds the node "
                        + Printable.of(name) + ", which looks like a lock node but is of no kind that this lock knows"
                        + " (its own are named ..." + target.nodeName() + "NNNNNNNNNN); use one recipe and"
                        + " compatible libraries on a path, or move one of them to another path");
            }
        }
        Collections.sort(nodes);
        for (int place = 0; place < nodes.size(); place++) {
            places.put(nodes.get(place).name(), place);
        }
    }

    public List<LockNode> nodes() {
        return nodes;
    }

    public boolean contains(@Nullable String name) {
        return places.containsKey(name);
    }

    /**
     * Asks the driver about a node of ours, in the list, that wants to be granted.
     *
     * @throws LockException if the node's number is of no use: ZooKeeper's counter sticks at its end and then repeats
     * @throws LockRefusedException if the driver throws, or waits for what does not stand in front of the node
     */
    public Decision decideOnOwn(@Nullable String name) {
        int place = Objects.requireNonNull(places.get(name), "not in the list");
        LockNode self = nodes.get(place);
        if (!self.hasOrdinaryNumber() || isNumberAt(place - 1, self) || isNumberAt(place + 1, self)) {
            throw new LockException("the sequence counter of " + target.path() + " is exhausted: " + name
                    + " cannot be ordered; stop all users of the path, delete it, and start again");
        }
        return decide(self);
    }

    /**
     * Asks the driver about one node, which need not be in the list.
     *
     * @throws LockRefusedException if the driver throws, or waits for what does not stand in front of the node
     */
    public Decision decide(LockNode self) {
        int found = Collections.binarySearch(nodes, self);
        int place = found < 0 ? -found - 1 : found;
        return decide(place, self);
    }

    /**
     * Whether a node in the list holds the lock. A node that a change of mode put at the place of another one has the
     * same number, and neither stands in front of the other. A node that a shared rule refuses was let in under an earlier
     * one, or else leaves at once.
     *
     * @throws LockRefusedException as {@link #decide}
     */
    public boolean holds(LockNode node) {
        int place = Objects.requireNonNull(places.get(node.name()), "not in the list");
        while (isNumberAt(place - 1, node)) {
            place--;
        }
        Decision decision = decide(place, node);
        return node.hasOrdinaryNumber()
                && (decision instanceof Decision.Granted
                        || (decision instanceof Decision.Never && target.hasSharedRule()));
    }

    private Decision decide(int place, LockNode self) {
        return target.decide(driver, Collections.unmodifiableList(nodes.subList(0, place)), self);
    }

    /** Whether the neighbour has the same number; in the order, equal numbers are neighbours. */
    private boolean isNumberAt(int place, LockNode self) {
        return place >= 0 && place < nodes.size() && nodes.get(place).number() == self.number();
    }
}
