// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import com.google.common.primitives.Ints;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.NodeData;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.zookeeper.data.Stat;

/**
 * The state of a lock, derived from the nodes at its path: the recipe, as far as the nodes reveal it, and which nodes
 * hold by the rule of that recipe. It covers the recipes of this library and of Apache Curator. It is computed from
 * nodes that were already read, and sends nothing. Code that has a lock object gets the same information from
 * {@link dev.zkrecipes.core.InterProcessLock#participants()}.
 *
 * @param path the path
 * @param recipe the recipe of its nodes
 * @param limit the limit of a semaphore of this library, if the data of the path contain one
 * @param places its lock nodes, in the order of the queue
 */
record PathView(String path, Recipe recipe, Optional<Limit> limit, List<Place> places) {
    private static final String READ = "__READ__";
    private static final String WRITE = "__WRIT__";
    private static final List<String> KINDS = List.of("lock-", "latch-", READ, WRITE, "lease-");

    /** The recipe that the nodes of a path belong to. */
    enum Recipe {
        /** There is no lock node. */
        NONE,
        /** A mutex, a member of a multi-lock, or Curator's {@code InterProcessMutex}: {@code lock-}. */
        MUTEX,
        /** A leader election of this library, or Curator's {@code LeaderLatch}: {@code latch-}. */
        LATCH,
        /** A read-write lock of either library: {@code __READ__}, {@code __WRIT__}. */
        READ_WRITE,
        /** A semaphore of this library: {@code lease.}, with the limit in the data of the path. */
        SEMAPHORE,
        /**
         * Leases of Curator's {@code InterProcessSemaphoreV2}: {@code lease-}. The limit is only in the code of its
         * users.
         */
        CURATOR_SEMAPHORE,
        /** Nodes of several recipes. Each recipe refuses to grant anything beside the nodes of another. */
        MIXED,
        /** Nodes in the form of lock nodes, but of an unknown kind: those of somebody's own {@link LockDriver}. */
        UNKNOWN
    }

    /** Whether a node holds its lock. */
    enum State {
        /** The participant holds the lock. */
        HOLDS,
        /** The participant waits for the lock. */
        WAITS,
        /** The nodes do not show whether the participant holds the lock. */
        UNKNOWN
    }

    /**
     * The limit of a semaphore.
     *
     * @param configured the limit that its users have in their code
     * @param current the limit in force
     * @param earlier the greatest limit so far, at least {@code current}; a node that fits only within this limit may
     *     have been granted before the limit was lowered, and may still hold
     */
    record Limit(int configured, int current, int earlier) {}

    /**
     * One node in the queue.
     *
     * @param node its name and the parts of the name; for Curator's semaphore with the folder, as in
     *     {@code leases/...}
     * @param state whether it holds
     * @param permits how many permits it requests; 1 if its name has no number
     * @param data its owner label and the requests to give the lock back
     * @param stat its session, the time of its creation, and so on; empty if it may not be read
     */
    record Place(LockNode node, State state, int permits, NodeData data, Optional<Stat> stat) {

        String owner() {
            return data.owner();
        }

        List<RevocationRequest> requests() {
            return data.requests();
        }

        /** Returns this node with another state, and with a folder in front of its name. */
        private Place as(String folder, State now) {
            LockNode inside = new LockNode(folder + node.name(), node.kind(), node.payload(), node.number());
            return new Place(inside, now, permits, data, stat);
        }
    }

    /**
     * Whether a child may be a lock node, going by its name. Only such children need to be read for {@link #of}.
     *
     * @param childName the name of the child
     * @return false if no lock counts a node of this name
     */
    static boolean mayBeLockNode(String childName) {
        return parse(childName).isPresent();
    }

    /**
     * Computes the view of a path. It leaves out the children that no lock counts: those whose names do not have the
     * form of lock nodes, and those of an unknown kind that no session owns. The latter may just as well be the items
     * of a queue. A node of a known kind counts whether or not a session owns it.
     *
     * @param path the path
     * @param data the data of the path
     * @param children the content of each child, by name; empty for a child that may not be read
     * @return the view
     */
    static PathView of(String path, byte[] data, Map<String, Optional<Content>> children) {
        List<Place> places = new ArrayList<>();
        children.forEach((name, content) -> parse(name)
                .filter(node -> recipe(node) != Recipe.UNKNOWN
                        || content.isEmpty()
                        || content.get().stat().getEphemeralOwner() != 0)
                .ifPresent(node -> places.add(new Place(
                        node,
                        State.UNKNOWN,
                        permits(node).orElse(1),
                        content.map(NodeData::in).orElse(NodeData.UNREAD),
                        content.map(Content::stat)))));
        places.sort(Comparator.comparing(Place::node));
        Set<Recipe> recipes = places.stream().map(place -> recipe(place.node())).collect(Collectors.toSet());
        Optional<Limit> limit =
                limit(data).filter(any -> Set.of(Recipe.SEMAPHORE).containsAll(recipes));
        Recipe recipe = limit.isPresent()
                ? Recipe.SEMAPHORE
                : recipes.stream().findFirst().orElse(Recipe.NONE);
        recipe = recipes.size() > 1 ? Recipe.MIXED : recipe;
        return new PathView(path, recipe, limit, decided(recipe, limit, places));
    }

    /**
     * Combines the two folders of Curator's {@code InterProcessSemaphoreV2}. The folder {@code locks} is the queue of
     * a mutex, under which one client at a time takes a lease. That client creates its lease first, and then keeps
     * the mutex until there is room. So every lease is held, except perhaps the newest: if it belongs to the
     * session with the mutex, the nodes do not show whether it is held or still waits.
     *
     * @param path the path of the semaphore
     * @param leases the view of its folder {@code leases}
     * @param locks the view of its folder {@code locks}
     * @return the view; empty if the folders are not those of a semaphore, or have no nodes
     */
    static Optional<PathView> ofCuratorSemaphore(String path, PathView leases, PathView locks) {
        if (!Set.of(Recipe.CURATOR_SEMAPHORE, Recipe.NONE).contains(leases.recipe)
                || !Set.of(Recipe.MUTEX, Recipe.NONE).contains(locks.recipe)
                || leases.recipe == locks.recipe) {
            return Optional.empty();
        }
        List<Place> all = new ArrayList<>();
        leases.places.forEach(lease -> all.add(lease.as("leases/", State.HOLDS)));
        boolean waits = !all.isEmpty()
                && !locks.places.isEmpty()
                && isOfOneSession(all.get(all.size() - 1), locks.places.get(0));
        if (waits) {
            all.add(all.remove(all.size() - 1).as("", State.UNKNOWN));
        }
        locks.places.stream().skip(waits ? 1 : 0).forEach(lock -> all.add(lock.as("locks/", State.WAITS)));
        return Optional.of(new PathView(path, Recipe.CURATOR_SEMAPHORE, Optional.empty(), List.copyOf(all)));
    }

    private static boolean isOfOneSession(Place one, Place other) {
        long session = one.stat().map(Stat::getEphemeralOwner).orElse(0L);
        return session != 0 && other.stat().map(Stat::getEphemeralOwner).equals(Optional.of(session));
    }

    private static Optional<LockNode> parse(String name) {
        return KINDS.stream()
                .flatMap(kind -> LockNode.parse(name, kind).stream())
                .findFirst()
                .or(() -> LockNode.parseWithPayload(name, "lease."))
                .or(() -> LockNode.ofAnyKind(name));
    }

    private static Recipe recipe(LockNode node) {
        return switch (node.kind()) {
            case "lock-" -> Recipe.MUTEX;
            case "latch-" -> Recipe.LATCH;
            case READ, WRITE -> Recipe.READ_WRITE;
            case "lease-" -> Recipe.CURATOR_SEMAPHORE;
            default -> permits(node).isPresent() ? Recipe.SEMAPHORE : Recipe.UNKNOWN;
        };
    }

    private static Optional<Integer> permits(LockNode node) {
        return node.kind().equals("lease.") ? number(node.payload()) : Optional.empty();
    }

    /** Reads a number of permits: at least 1, decimal, without leading zeros. */
    private static Optional<Integer> number(String text) {
        return Optional.ofNullable(Ints.tryParse(text)).filter(n -> n >= 1 && text.equals(n.toString()));
    }

    private static Optional<Limit> limit(byte[] data) {
        List<String> lines = NodeData.lines(data);
        Optional<Integer> current = number(lines, "current=");
        int earlier = number(lines, "earlier=").orElse(0);
        return number(lines, "configured=")
                .flatMap(made -> current.map(now -> new Limit(made, now, Math.max(now, earlier))));
    }

    private static Optional<Integer> number(List<String> lines, String name) {
        return lines.stream()
                .filter(line -> line.startsWith(name))
                .flatMap(line -> number(line.substring(name.length())).stream())
                .findFirst();
    }

    /**
     * Decides for each node whether it holds, in one pass over a queue of any length. Nodes with the same number do
     * not stand in front of each other: a writer that also took the read lock has two nodes.
     */
    private static List<Place> decided(Recipe recipe, Optional<Limit> limit, List<Place> places) {
        List<Place> decided = new ArrayList<>();
        boolean writer = false;
        long permits = 0;
        int begin = 0; // the first node with the current number; writer and permits are of the nodes before it
        for (Place place : places) {
            for (; places.get(begin).node().number() != place.node().number(); begin++) {
                writer |= !places.get(begin).node().kind().equals(READ);
                permits += places.get(begin).permits();
            }
            boolean free = place.node().kind().equals(READ) ? !writer : begin == 0;
            boolean wasFree = false;
            if (limit.isPresent()) {
                int most = limit.get().current();
                // A request for more permits than the limit leaves the queue. So a node that asks for more was
                // granted before the limit was lowered.
                free = permits + place.permits() <= most || place.permits() > most;
                wasFree = permits + place.permits() <= limit.get().earlier();
            }
            State byRule = State.WAITS;
            if (place.node().hasOrdinaryNumber() && (free || wasFree)) {
                byRule = free ? State.HOLDS : State.UNKNOWN;
            }
            State state = switch (recipe) {
                case MUTEX, LATCH, READ_WRITE -> byRule;
                case SEMAPHORE -> limit.isPresent() ? byRule : State.UNKNOWN;
                // ofCuratorSemaphore() finds the one lease that may still wait.
                case CURATOR_SEMAPHORE -> State.HOLDS;
                case NONE, MIXED, UNKNOWN -> State.UNKNOWN;
            };
            decided.add(place.as("", state));
        }
        return List.copyOf(decided);
    }
}
