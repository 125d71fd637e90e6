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
 * What stands on a path, for tools that show it: the recipe, as far as its nodes tell, and who holds by its rule. It
 * knows the recipes of this library and those of Apache Curator, asks no server, and changes nothing. Where a lock
 * object is at hand, {@link dev.zkrecipes.core.InterProcessLock#participants()} tells the same.
 *
 * @param path the path
 * @param recipe what it is
 * @param limit of a semaphore of this library, if the data of the path are one
 * @param places its lock nodes, in the order of the queue
 */
record PathView(String path, Recipe recipe, Optional<Limit> limit, List<Place> places) {
    private static final String READ = "__READ__";
    private static final String WRITE = "__WRIT__";
    private static final List<String> KINDS = List.of("lock-", "latch-", READ, WRITE, "lease-");

    /** What the nodes of a path are. */
    enum Recipe {
        /** No lock node is there. */
        NONE,
        /** A mutex, a member of a multi-lock, or Curator's {@code InterProcessMutex}: {@code lock-}. */
        MUTEX,
        /** A leader election of this library, or Curator's {@code LeaderLatch}: {@code latch-}. */
        LATCH,
        /** A read-write lock of either library: {@code __READ__}, {@code __WRIT__}. */
        READ_WRITE,
        /** A semaphore of this library: {@code lease.}, with the limit in the data of the path. */
        SEMAPHORE,
        /** Leases of Curator's {@code InterProcessSemaphoreV2}: {@code lease-}. Only its users know the limit. */
        CURATOR_SEMAPHORE,
        /** Nodes of several recipes, of which each refuses to grant beside the others'. */
        MIXED,
        /** Nodes in the form of lock nodes, of a kind that is not known: those of somebody's own {@link LockDriver}. */
        UNKNOWN
    }

    /** How a node stands. */
    enum State {
        /** It holds. */
        HOLDS,
        /** It waits. */
        WAITS,
        /** The nodes do not show it. */
        UNKNOWN
    }

    /**
     * The limit of a semaphore.
     *
     * @param configured what its users name in their code
     * @param current what is in force
     * @param earlier the greatest that was in force since it was last as great as {@code current}: what came by it may
     *     hold, too
     */
    record Limit(int configured, int current, int earlier) {}

    /**
     * One node.
     *
     * @param node its name and the parts of it; of Curator's semaphore with the folder, as in {@code leases/...}
     * @param state how it stands
     * @param permits how many it asks for; 1 if it names none
     * @param data what its data say
     * @param stat its session, since when it is queued, and so on; empty if it may not be read
     */
    record Place(LockNode node, State state, int permits, NodeData data, Optional<Stat> stat) {

        String owner() {
            return data.owner();
        }

        List<RevocationRequest> requests() {
            return data.requests();
        }

        private Place as(String folder, State now) {
            LockNode inside = new LockNode(folder + node.name(), node.kind(), node.payload(), node.number());
            return new Place(inside, now, permits, data, stat);
        }
    }

    /**
     * Whether a child may be a node of a lock, by its name: what {@link #of} is to be told of.
     *
     * @param childName its name
     * @return false if no lock counts it, whatever it is
     */
    static boolean mayBeLockNode(String childName) {
        return parse(childName).isPresent();
    }

    /**
     * Says what stands on a path.
     *
     * @param path the path
     * @param data its data
     * @param children what was read of its children, by name; empty for those that may not be read
     * @return the view; without the children that no lock counts: names of another form, and of an unknown kind if no
     *     session owns the node
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
     * Takes two folders of Curator's {@code InterProcessSemaphoreV2} together. Whoever has the mutex of the second
     * makes its lease first and waits then, so a lease is held, but perhaps not the newest one.
     *
     * @param path the path of the semaphore
     * @param leases its folder {@code leases}
     * @param locks its folder {@code locks}
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

    /** In one pass. Nodes of one number are not in front of each other: a writer that took the read lock has two. */
    private static List<Place> decided(Recipe recipe, Optional<Limit> limit, List<Place> places) {
        List<Place> decided = new ArrayList<>();
        boolean writer = false;
        long permits = 0;
        int begin = 0; // of those with this number; the writer and the permits are in front of it
        for (Place place : places) {
            for (; places.get(begin).node().number() != place.node().number(); begin++) {
                writer |= !places.get(begin).node().kind().equals(READ);
                permits += places.get(begin).permits();
            }
            boolean free = place.node().kind().equals(READ) ? !writer : begin == 0;
            boolean wasFree = false;
            if (limit.isPresent()) {
                int most = limit.get().current();
                // What asks for more than the limit was let in before the limit was lowered.
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
                case CURATOR_SEMAPHORE -> State.HOLDS;
                case NONE, MIXED, UNKNOWN -> State.UNKNOWN;
            };
            decided.add(place.as("", state));
        }
        return List.copyOf(decided);
    }
}
