// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.NodeEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Plays a sequence on one side and shows what is seen in words that do not depend on the side: sessions by their numbers,
 * transactions by the step that made them.
 */
final class Player {
    private final Side side;
    private final List<ZooKeeperOperations> sessions = new ArrayList<>();
    private final NavigableMap<Long, Integer> steps = new TreeMap<>(); // the newest transaction after each
    private final Map<Long, Integer> numbers = new HashMap<>();
    private final Map<String, Consumer<NodeEvent>> watches = new HashMap<>();
    private final ConcurrentLinkedQueue<String> events = new ConcurrentLinkedQueue<>();
    private final Set<Integer> closed = ConcurrentHashMap.newKeySet();
    private int played;
    private volatile int acting;
    private volatile boolean answered;

    /** Makes the base, whose counter begins there, and opens sessions. */
    Player(Side side, String base, int counter, int sessions) {
        this.side = side;
        side.makeBase(base, counter);
        for (int i = 0; i < sessions; i++) {
            open();
        }
        steps.put(side.lastZxid(), 0);
    }

    Side side() {
        return side;
    }

    void open() {
        ZooKeeperOperations session = side.open();
        numbers.put(session.sessionId(), sessions.size());
        sessions.add(session);
    }

    void close(int session) {
        closed.add(session);
        sessions.get(session).close();
    }

    /** No session does that, so none hears of it in an order with an answer. */
    void reapContainers() {
        acting = -1;
        side.reapContainers();
    }

    /**
     * The same one for the same name. A session hears of its own doings before they are answered; whether it hears of what
     * its end does, the port leaves open.
     */
    Consumer<NodeEvent> watch(int session, String name) {
        return watches.computeIfAbsent(name, key -> event -> {
            if (!closed.contains(session)) {
                events.add(name + " is told " + event + (session == acting && answered ? " after the answer" : ""));
            }
        });
    }

    /** What came of a step. */
    List<String> play(Step step) {
        CompletableFuture<Supplier<String>> answer = new CompletableFuture<>();
        acting = step.session();
        answered = false;
        step.action().send(this, sessions.get(step.session()), shown -> {
            if (answered) {
                events.add("answered twice");
            }
            answered = true;
            answer.complete(shown);
        });
        Supplier<String> shown = side.await(answer);
        side.settle();
        long before = steps.lastKey();
        long now = side.lastZxid();
        steps.putIfAbsent(now, ++played);
        List<String> seen = new ArrayList<>();
        seen.add(shown.get());
        seen.add(now - before + " transactions");
        events.stream().sorted().forEach(seen::add);
        events.clear();
        return seen;
    }

    /** The step in which a transaction was made, 0 for all that is older than the sequence. */
    int stepOf(long zxid) {
        Map.Entry<Long, Integer> step = steps.ceilingEntry(zxid);
        return step == null ? played : step.getValue();
    }

    String ownerOf(long session) {
        if (session == 0) {
            return "nobody";
        }
        Integer number = numbers.get(session);
        return number == null ? Long.toHexString(session) : "session " + number;
    }

    /** All nodes that can be reached from a path, and everything that can be read of them. */
    List<String> walk(int session, String path) {
        List<String> seen = new ArrayList<>();
        seen.addAll(play(Steps.read(session, path)));
        seen.addAll(play(Steps.acl(session, path)));
        CompletableFuture<List<String>> names = new CompletableFuture<>();
        sessions.get(session)
                .children(
                        path,
                        answer -> names.complete(answer.isOk() ? answer.value().names() : List.of()));
        for (String name : new TreeSet<>(side.await(names))) {
            seen.add(path + "/" + name);
            seen.addAll(walk(session, path + "/" + name));
        }
        return seen;
    }
}
