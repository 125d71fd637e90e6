// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.queue;

import dev.zkrecipes.core.IncompatibleNodeException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.Printable;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.FifoDriver;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The lock nodes of one path in the order of the queue: the nodes of one list, less those that are known to be gone
 * since then. A list is sorted once for all equal drivers, and all users of the list share the object. Confined to the
 * engine thread.
 *
 * <p>Every method that asks the driver throws a {@link LockRefusedException} if the driver throws, or if the driver
 * waits for a node that is not in front of the node in question.
 */
public final class LockQueue {
    /**
     * The folder in which Curator's semaphores keep the leases that they grant. It exists whenever a lease is held.
     * The folder beside it, {@value #CURATOR_LOCKS}, proves nothing: ZooKeeper removes that one while a lease is held
     * and nobody queues, and other locks may use that name, too.
     */
    private static final String CURATOR_LEASES = "leases";

    private static final String CURATOR_LOCKS = "locks"; // named in the advice of a message only

    private final LockSpec spec;
    private final LockDriver driver; // the driver of the spec, under the rule that the path has
    private final List<LockNode> nodes; // sorted, so that a binary search finds a node

    /** Takes nodes that are sorted already. The list becomes part of this queue. */
    LockQueue(LockSpec spec, LockDriver driver, List<LockNode> nodes) {
        this.spec = spec;
        this.driver = driver;
        this.nodes = nodes;
    }

    /**
     * Parses and sorts the children of a lock's path. {@code rule} is the data of the path; null if the path does not
     * exist, or if the driver does not depend on the data.
     */
    public LockQueue(LockSpec spec, List<String> childNames, byte @Nullable [] rule) {
        this.spec = spec;
        this.driver = spec.driverUnder(rule);
        this.nodes = new ArrayList<>(childNames.size());
        for (String name : childNames) {
            Optional<LockNode> node = spec.parse(name);
            if (node.isPresent()) {
                nodes.add(node.get());
            } else {
                requireHarmless(name);
            }
        }
        Collections.sort(nodes);
    }

    /** Returns the paths of the children that have the form of a lock node but are of no kind that the lock knows. */
    static List<String> strangers(List<String> childNames, LockSpec spec) {
        return childNames.stream()
                .filter(name -> LockNode.isLockForm(name) && spec.parse(name).isEmpty())
                .map(name -> LockPath.child(spec.path(), name))
                .toList();
    }

    /** Refuses a child that is not a node of this lock but may belong to a holder that this lock would not exclude. */
    private void requireHarmless(String name) {
        if (LockNode.isLockForm(name)) {
            throw new IncompatibleNodeException(
                    "the lock path " + spec.path() + " holds the node " + Printable.of(name)
                            + ", which looks like a lock node but is of no kind that this lock knows"
                            + " (its own are named ..." + spec.nodeName() + "NNNNNNNNNN); use one recipe and"
                            + " compatible libraries on a path, or move one of them to another path",
                    name);
        }
        if (name.equals(CURATOR_LEASES)) {
            String folder = LockPath.child(spec.path(), name);
            throw new IncompatibleNodeException(
                    "the lock path " + spec.path() + " has the child " + folder
                            + ", in which Apache Curator's InterProcessSemaphoreMutex and InterProcessSemaphoreV2 keep"
                            + " the leases that they grant, and those do not exclude this lock; move one of the two to"
                            + " another path, or delete " + folder + " and "
                            + LockPath.child(spec.path(), CURATOR_LOCKS) + " once nobody uses Curator's",
                    name);
        }
    }

    public List<LockNode> nodes() {
        return Collections.unmodifiableList(nodes);
    }

    public boolean contains(LockNode node) {
        return Collections.binarySearch(nodes, node) >= 0;
    }

    /** Removes a node that no longer exists on the server. Call only on a copy, see {@link #without}. */
    public void remove(String name) {
        spec.parse(name).ifPresent(node -> {
            int place = Collections.binarySearch(nodes, node);
            if (place >= 0) {
                nodes.remove(place);
            }
        });
    }

    /** Whether the other lock sees this queue. It does if its driver is equal, whatever the two requests ask for. */
    boolean isSeenAlikeBy(LockSpec other) {
        return spec.equals(other) || spec.hasRuleOf(other);
    }

    /**
     * Returns a copy without the nodes of these names. The caller may remove more nodes from the copy; this queue
     * itself belongs to all users of the list and must not change.
     */
    public LockQueue without(Set<String> names) {
        List<LockNode> left = nodes.stream()
                .filter(node -> !names.contains(node.name()))
                .collect(Collectors.toCollection(ArrayList::new));
        return new LockQueue(spec, driver, left);
    }

    /**
     * Asks the driver about a node of this client that requests the lock; null if the node is not in the queue. Throws
     * a {@link LockException} if the sequence number of the node does not order it: ZooKeeper's counter stops at its
     * end and then repeats the last number.
     */
    public @Nullable Decision decideOnOwn(LockNode self) {
        int place = Collections.binarySearch(nodes, self);
        if (place < 0) {
            return null;
        } else if (!self.hasOrdinaryNumber() || isNumberAt(place - 1, self) || isNumberAt(place + 1, self)) {
            throw new LockException("the sequence counter of " + spec.path() + " is exhausted: " + self.name()
                    + " cannot be ordered; stop all users of the path, delete it, and start again");
        }
        return spec.decide(driver, inFront(place), self);
    }

    /**
     * Asks the driver about a node that need not be in the queue. The node is treated as if it were at the place that
     * its number gives it.
     */
    public Decision decide(LockNode self) {
        int found = Collections.binarySearch(nodes, self);
        return spec.decide(driver, inFront(found < 0 ? -found - 1 : found), self);
    }

    /**
     * Whether {@code self}, which is in the queue, would no longer be granted if {@code inFront} appeared directly in
     * front of it.
     */
    public boolean wouldBeBlockedBy(LockNode inFront, LockNode self) {
        List<LockNode> predecessors = new ArrayList<>(nodes.subList(0, placeOf(self)));
        predecessors.add(inFront);
        Collections.sort(predecessors);
        return !(spec.decide(driver, Collections.unmodifiableList(predecessors), self) instanceof Decision.Granted);
    }

    /**
     * Whether {@code self}, which is in the queue and is not refused, would be granted if the nodes {@code gone} in
     * front of it disappeared. A request that knows this in advance is granted by the deletion event alone, without
     * another list.
     */
    public boolean wouldGrantWithout(List<LockNode> gone, LockNode self) {
        List<LockNode> predecessors = nodes.subList(0, placeOf(self));
        if (LockSpec.endsWith(predecessors, gone)) {
            predecessors = predecessors.subList(0, predecessors.size() - gone.size());
        } else {
            predecessors = new ArrayList<>(predecessors);
            predecessors.removeAll(new HashSet<>(gone));
        }
        return predecessors.isEmpty() // an empty queue grants every request that is not refused
                || spec.decide(driver, Collections.unmodifiableList(predecessors), self) instanceof Decision.Granted;
    }

    /**
     * Returns the nodes for which the neighbour directly in front of a waiting node waits, if they block
     * {@code self}, too; the driver has {@code self} wait for {@code blocking}. The result is empty unless the
     * neighbour is one of {@code blocking}, waits itself, and {@code self} would still wait if only the result were
     * in front of it.
     *
     * <p>A request behind another waiter watches these nodes instead of its neighbour. It is woken when the neighbour
     * is granted, and uses the time of that hold to prepare, so that the next deletion grants it without another
     * list.
     */
    public List<LockNode> blockingNeighbourToo(LockNode self, List<LockNode> blocking) {
        int place = placeOf(self);
        LockNode neighbour = nodes.get(place - 1); // exists: somebody must be in front of a waiting node
        if (place == 1 // the neighbour is first in the queue, so it holds the lock
                || !blocking.contains(neighbour)
                || !(spec.decide(driver, inFront(place - 1), neighbour) instanceof Decision.WaitFor wait)) {
            return List.of();
        }
        List<LockNode> both = new ArrayList<>(wait.nodes());
        Collections.sort(both);
        return spec.decide(driver, Collections.unmodifiableList(both), self) instanceof Decision.WaitFor
                ? both
                : List.of();
    }

    private int placeOf(LockNode node) {
        int place = Collections.binarySearch(nodes, node);
        if (place < 0) {
            throw new IllegalArgumentException(node.name() + " is not in the queue of " + spec.path());
        }
        return place;
    }

    private List<LockNode> inFront(int place) {
        return place == 0 ? List.of() : Collections.unmodifiableList(nodes.subList(0, place));
    }

    /**
     * Whether the node at a place has the number of {@code self}. Nodes are sorted by number, so equal numbers are
     * neighbours.
     */
    private boolean isNumberAt(int place, LockNode self) {
        return place >= 0 && place < nodes.size() && nodes.get(place).number() == self.number();
    }

    // ---- Who holds.

    /**
     * The nodes that hold the lock, as far as this list shows. Two cases need care:
     *
     * <ul>
     *   <li>A change of mode puts a second node at the place of the first. Both nodes have the same number, and
     *       neither is in front of the other.
     *   <li>The present shared rule may refuse a node. Such a node was granted under an earlier rule, or it is about
     *       to leave; it counts as holding.
     * </ul>
     *
     * <p>One question to the driver may cost as much time as there are nodes in front of the node. By law 4, a
     * {@link FifoDriver} grants all nodes up to some place and none behind it, so a binary search finds that place.
     * Only the nodes that share its number are decided one by one, and the nodes behind it that the rule refuses even
     * with nobody in front of them.
     */
    public Set<LockNode> holding() {
        int doubtful = 0; // every node in front of this place is granted
        int waiting = nodes.size(); // no node from this place on is granted
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
     * The nodes that may hold the lock because an earlier rule granted them; {@code rule} is the present data of the
     * path. The caller must leave out the nodes that were created after the last change of the rule, because no
     * earlier rule granted those. Some of the others may hold the lock by the present rule, too.
     */
    public Set<LockNode> holdingByEarlier(byte @Nullable [] rule) {
        return spec.driverUnderEarlier(rule)
                .map(earlier -> new LockQueue(spec, earlier, nodes).holding())
                .orElse(Set.of());
    }

    /**
     * The place of the first node that is not granted, by binary search. If several nodes share a number, the search
     * may end at any of them; the caller looks at all of them.
     */
    private int firstNotGranted() {
        int low = 0;
        int high = nodes.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (decideAt(middle) instanceof Decision.Granted) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return high;
    }

    /**
     * Whether the node at this place holds the lock. A refused node counts, because it may hold it by an earlier
     * rule.
     */
    private boolean holds(int place) {
        Decision decision = decideAt(place);
        return decision instanceof Decision.Granted || (decision instanceof Decision.Never && spec.hasSharedRule());
    }

    /** Whether the rule refuses the node even with nobody in front of it. */
    private boolean isRefusedAlone(LockNode node) {
        return spec.hasSharedRule() && spec.decide(driver, List.of(), node) instanceof Decision.Never;
    }

    /** Decides on the node at a place. Nodes with its own number are no predecessors of it. */
    private Decision decideAt(int place) {
        return spec.decide(driver, inFront(startOfNumberAt(place)), nodes.get(place));
    }

    /** The first of the places whose nodes have the same number as the node at {@code place}. */
    private int startOfNumberAt(int place) {
        int start = Math.max(0, place);
        while (start > 0 && isNumberAt(start - 1, nodes.get(start))) {
            start--;
        }
        return start;
    }

    /** The place behind the last node that has the same number as the node at {@code place}. */
    private int endOfNumberAt(int place) {
        int end = Math.min(nodes.size(), place + 1);
        while (end > 0 && isNumberAt(end, nodes.get(end - 1))) {
            end++;
        }
        return end;
    }
}
