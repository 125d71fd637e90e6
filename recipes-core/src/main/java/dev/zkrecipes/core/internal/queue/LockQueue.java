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
 * The nodes of a lock in order, as one list showed them, less those that are known to be gone since. It is sorted once
 * for each kind of driver, and one object serves all users of the list. Whatever asks the driver throws a {@link
 * LockRefusedException} if that throws, or waits for what does not stand in front of the node.
 */
public final class LockQueue {
    /**
     * The folder in which Curator's semaphores keep their permits. The folder beside it, "locks", tells nothing:
     * ZooKeeper removes it while a permit is held and nobody queues, and other locks may have that name.
     */
    private static final String CURATOR_LEASES = "leases";

    private static final String CURATOR_LOCKS = "locks";

    private final LockSpec spec;
    private final LockDriver driver;
    private final List<LockNode> nodes;

    LockQueue(LockSpec spec, LockDriver driver, List<LockNode> nodes) {
        this.spec = spec;
        this.driver = driver;
        this.nodes = nodes;
    }

    /**
     * Sorts the children of a lock's path. The rule is the data of the path; null if the path does not exist, or the
     * driver does not depend on it.
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

    /** The paths of the children that have the form of lock nodes, and are of no kind that the lock knows. */
    static List<String> strangers(List<String> childNames, LockSpec spec) {
        return childNames.stream()
                .filter(name -> LockNode.isLockForm(name) && spec.parse(name).isEmpty())
                .map(name -> LockPath.child(spec.path(), name))
                .toList();
    }

    /** Refuses a child that is no node of this lock but may be a sign of other holders. */
    private void requireHarmless(String name) {
        if (LockNode.isLockForm(name)) {
            throw new IncompatibleNodeException("the lock path " + spec.path() + " holds the node "
                    + Printable.of(name)
                    + ", which looks like a lock node but is of no kind that this lock knows"
                    + " (its own are named ..." + spec.nodeName() + "NNNNNNNNNN); use one recipe and"
                    + " compatible libraries on a path, or move one of them to another path");
        }
        if (name.equals(CURATOR_LEASES)) {
            String folder = LockPath.child(spec.path(), name);
            throw new IncompatibleNodeException("the lock path " + spec.path() + " has the child " + folder
                    + ", in which Apache Curator's InterProcessSemaphoreMutex and InterProcessSemaphoreV2 keep the"
                    + " leases that they grant, and those do not exclude this lock; move one of the two to another"
                    + " path, or delete " + folder + " and " + LockPath.child(spec.path(), CURATOR_LOCKS)
                    + " once nobody uses Curator's");
        }
    }

    public List<LockNode> nodes() {
        return Collections.unmodifiableList(nodes);
    }

    public boolean contains(LockNode node) {
        return Collections.binarySearch(nodes, node) >= 0;
    }

    public void remove(String name) {
        spec.parse(name).ifPresent(node -> {
            int place = Collections.binarySearch(nodes, node);
            if (place >= 0) {
                nodes.remove(place);
            }
        });
    }

    /** Requests by equal drivers see a queue alike, whatever each asks for. */
    boolean isSeenAlikeBy(LockSpec other) {
        return spec.equals(other) || spec.hasRuleOf(other);
    }

    /** A copy without these nodes, to remove others from; this queue belongs to all users of the list. */
    public LockQueue without(Set<String> names) {
        List<LockNode> left = nodes.stream()
                .filter(node -> !names.contains(node.name()))
                .collect(Collectors.toCollection(ArrayList::new));
        return new LockQueue(spec, driver, left);
    }

    /**
     * Asks the driver about a node of ours that wants to be granted; null if it is not in the queue. Throws if its
     * number is of no use: ZooKeeper's counter sticks at its end and then repeats.
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

    /** Asks the driver about one node, which need not be in the queue. */
    public Decision decide(LockNode self) {
        int found = Collections.binarySearch(nodes, self);
        return spec.decide(driver, inFront(found < 0 ? -found - 1 : found), self);
    }

    /** Whether one more node right in front of a node in the queue would keep that from being granted. */
    public boolean wouldBeBlockedBy(LockNode inFront, LockNode self) {
        List<LockNode> predecessors = new ArrayList<>(nodes.subList(0, placeOf(self)));
        predecessors.add(inFront);
        Collections.sort(predecessors);
        return !(spec.decide(driver, Collections.unmodifiableList(predecessors), self) instanceof Decision.Granted);
    }

    /** Whether a node in the queue, which is not refused, would be granted if these in front of it were gone. */
    public boolean wouldGrantWithout(List<LockNode> gone, LockNode self) {
        List<LockNode> predecessors = nodes.subList(0, placeOf(self));
        if (LockSpec.endsWith(predecessors, gone)) {
            predecessors = predecessors.subList(0, predecessors.size() - gone.size());
        } else {
            predecessors = new ArrayList<>(predecessors);
            predecessors.removeAll(new HashSet<>(gone));
        }
        return predecessors.isEmpty() // then nobody is left to wait for
                || spec.decide(driver, Collections.unmodifiableList(predecessors), self) instanceof Decision.Granted;
    }

    /**
     * What the node right in front of a waiting node waits for. Empty unless the waiting node, whose driver waits for
     * {@code blocking}, waits for that one too and would wait for the same nodes without it; so also if the one in
     * front does not wait.
     */
    public List<LockNode> blockingNeighbourToo(LockNode self, List<LockNode> blocking) {
        int place = placeOf(self);
        LockNode neighbour = nodes.get(place - 1); // a waiting node has one
        if (place == 1 // then the one in front has nobody to wait for
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

    /** Whether the neighbour has the same number; in the order, equal numbers are neighbours. */
    private boolean isNumberAt(int place, LockNode self) {
        return place >= 0 && place < nodes.size() && nodes.get(place).number() == self.number();
    }

    // ---- Who holds.

    /**
     * The nodes that hold the lock. One that a change of mode put at the place of another has the same number, and
     * neither stands in front of the other. One that a shared rule refuses was let in under an earlier rule, or leaves
     * at once.
     *
     * <p>Each question to the driver may cost as much as there are nodes in front. By law 4 a {@link FifoDriver} grants
     * the nodes up to some place and none behind it, so that place is searched for. Only the nodes that share its
     * number are asked about one by one, and those behind it that are refused even with nobody in front of them.
     */
    public Set<LockNode> holding() {
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
     * The nodes that held the lock under rules earlier than this one, which the path has now, if they came before its
     * last change. Some of them may hold it by the present one.
     */
    public Set<LockNode> holdingByEarlier(byte @Nullable [] rule) {
        return spec.driverUnderEarlier(rule)
                .map(earlier -> new LockQueue(spec, earlier, nodes).holding())
                .orElse(Set.of());
    }

    /** The place of a node that is not granted, right behind one that is. Only equal numbers leave a choice. */
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

    private boolean holds(int place) {
        Decision decision = decideAt(place);
        return decision instanceof Decision.Granted || (decision instanceof Decision.Never && spec.hasSharedRule());
    }

    private boolean isRefusedAlone(LockNode node) {
        return spec.hasSharedRule() && spec.decide(driver, List.of(), node) instanceof Decision.Never;
    }

    private Decision decideAt(int place) {
        return spec.decide(driver, inFront(startOfNumberAt(place)), nodes.get(place));
    }

    /** The first place with the number of the node there. */
    private int startOfNumberAt(int place) {
        int start = Math.max(0, place);
        while (start > 0 && isNumberAt(start - 1, nodes.get(start))) {
            start--;
        }
        return start;
    }

    private int endOfNumberAt(int place) {
        int end = Math.min(nodes.size(), place + 1);
        while (end > 0 && isNumberAt(end, nodes.get(end - 1))) {
            end++;
        }
        return end;
    }
}
