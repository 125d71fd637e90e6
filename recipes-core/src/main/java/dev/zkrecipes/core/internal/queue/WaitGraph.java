// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.queue;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import dev.zkrecipes.core.Deadlock.Member;
import dev.zkrecipes.core.internal.wire.LockPath;
import dev.zkrecipes.core.internal.wire.OwnerLabel;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Who waits for whom, as the nodes of locks show it: a node waits for nodes in front of it in its queue, and the thread
 * that waits with it holds the nodes that its data names. A circle is a deadlock if all of its nodes existed at the
 * same moment. A graph that was read node by node does not show whether they did. Not thread-safe.
 *
 * <p>The graph knows the rules of mutexes, leader latches and read-write locks: a node waits for all nodes in front of
 * it, except that a reader does not wait for readers. What other locks require is not known, so a circle through them
 * is not certain.
 */
public final class WaitGraph {
    private static final String READER = "__READ__";
    private static final Map<String, Integer> RULES = Map.of("lock-", 1, "latch-", 2, READER, 3, "__WRIT__", 3);

    private final Map<String, List<Entry>> queues = new HashMap<>(); // by the path of the lock
    private final Map<String, Entry> entries = new LinkedHashMap<>(); // by the path of the node

    /** By session and path of a node: the requests that end before it leaves, its own and those of its thread. */
    private final Map<String, List<Entry>> endings = new HashMap<>();

    private record Entry(String lockPath, LockNode node, Content content) {
        String path() {
            return LockPath.child(lockPath, node.name());
        }

        /** The path in this entry's session: what is said of the nodes of another session is not believed. */
        String ofSession(String path) {
            return content.stat().getEphemeralOwner() + path;
        }

        boolean waitsFor(Entry front, boolean certainly) {
            boolean bothRead = node.kind().equals(READER) && front.node.kind().equals(READER);
            Integer rule = RULES.get(node.kind());
            boolean isKnown = rule != null && rule.equals(RULES.get(front.node.kind()));
            return front.node.compareTo(node) < 0 && !bothRead && (isKnown || !certainly);
        }
    }

    /**
     * How the search reached an entry: from an entry that waits for {@code front}. The reached entry is {@code front}
     * itself, or the thread that waits with it holds {@code front}.
     */
    private record Step(Entry from, Entry front) {}

    /** Adds a node of a lock. */
    public void add(String lockPath, LockNode node, Content content) {
        Entry entry = new Entry(lockPath, node, content);
        entries.put(entry.path(), entry);
        queues.computeIfAbsent(lockPath, path -> new ArrayList<>()).add(entry);
        Stream.concat(Stream.of(entry.path()), OwnerLabel.holds(content.data()).stream())
                .forEach(path -> endings.computeIfAbsent(entry.ofSession(path), key -> new ArrayList<>())
                        .add(entry));
    }

    /**
     * Requests that wait for each other, in the order of the circle. If {@code isCertain}, the circle is a deadlock,
     * provided that all of its nodes existed at the same moment. {@code youngest} is the path of the node that has to
     * give way: that of the youngest member, among the members whose thread holds something. But if the searching
     * request takes part by its place in another queue, it is the node of that request: the node's data do not name
     * the place, so no other member can see the circle. The empty string if there is no such node.
     */
    public record Circle(boolean isCertain, List<Member> members, String youngest) {
        /** Returns the paths of all nodes of the circle. */
        public List<String> nodes() {
            return members.stream()
                    .flatMap(member -> Stream.concat(Stream.of(member.node()), member.holds().stream()))
                    .distinct()
                    .toList();
        }
    }

    /**
     * Finds the smallest circle through a request, preferably a certain one; empty if there is none. The circle begins
     * with the request, which waits with these nodes. {@code now} is used to compute the ages of nodes.
     */
    public Optional<Circle> through(Collection<String> request, Instant now) {
        return search(request, true, now).or(() -> search(request, false, now));
    }

    /**
     * Returns the smallest circle of each request whose thread holds something, or that waits for several locks,
     * without duplicates. The nodes of a request are those that one transaction created.
     */
    public List<Circle> circles(Instant now) {
        Map<Set<String>, Circle> found = new LinkedHashMap<>();
        entries.values().stream()
                .collect(groupingBy(entry -> entry.ofSession("/" + czxid(entry)), LinkedHashMap::new, toList()))
                .forEach((made, request) -> {
                    if (request.size() > 1
                            || !OwnerLabel.holds(request.get(0).content().data())
                                    .isEmpty()) {
                        through(request.stream().map(Entry::path).toList(), now)
                                .ifPresent(circle -> found.putIfAbsent(Set.copyOf(circle.nodes()), circle));
                    }
                });
        return List.copyOf(found.values());
    }

    /**
     * Goes from each node to the nodes that it waits for, and from a held node to those with which its thread waits.
     */
    private Optional<Circle> search(Collection<String> request, boolean certainly, Instant now) {
        Map<Entry, Step> reached = new HashMap<>(); // all but the nodes of the request
        Deque<Entry> next = new ArrayDeque<>();
        for (String path : request) {
            Entry own = entries.get(path);
            if (own != null) {
                next.add(own);
            }
        }
        while (!next.isEmpty()) {
            Entry waiting = next.remove();
            for (Entry front : queues.getOrDefault(waiting.lockPath(), List.of())) {
                if (waiting.waitsFor(front, certainly)) {
                    Step step = new Step(waiting, front);
                    for (Entry then : endings.getOrDefault(front.ofSession(front.path()), List.of())) {
                        if (request.contains(then.path())) {
                            return Optional.of(circle(step, request, reached, certainly, now));
                        } else if (!reached.containsKey(then)) {
                            reached.put(then, step);
                            next.add(then);
                        }
                    }
                }
            }
        }
        return Optional.empty();
    }

    /** Returns the circle that {@code last} closes. */
    private static Circle circle(
            Step last, Collection<String> request, Map<Entry, Step> reached, boolean isCertain, Instant now) {
        List<Member> members = new ArrayList<>();
        Entry youngest = null;
        for (Step step = last; step != null; step = reached.get(step.from())) {
            Entry waiting = step.from();
            Step before = reached.get(waiting);
            String holds = (before == null ? last : before).front().path();
            boolean hasHold = !holds.equals(waiting.path());
            members.add(member(waiting, hasHold ? Optional.of(holds) : Optional.empty(), now));
            if (hasHold && (youngest == null || czxid(waiting) > czxid(youngest) || request.contains(holds))) {
                youngest = waiting;
            }
        }
        Collections.reverse(members);
        return new Circle(isCertain, members, youngest == null ? "" : youngest.path());
    }

    private static long czxid(Entry entry) {
        return entry.content().stat().getCzxid();
    }

    private static Member member(Entry waiting, Optional<String> holds, Instant now) {
        Duration age =
                Duration.between(Instant.ofEpochMilli(waiting.content().stat().getCtime()), now);
        return new Member(
                OwnerLabel.decode(waiting.content().data()),
                waiting.path(),
                holds,
                age.isNegative() ? Duration.ZERO : age);
    }
}
