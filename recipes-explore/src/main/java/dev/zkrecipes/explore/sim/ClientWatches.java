// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.NodeEvent;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/** The watches of a session at its client, which outlive connections and are set again on the next one. */
final class ClientWatches {
    private final WatchTable<Consumer<NodeEvent>> watches = new WatchTable<>();
    private final Set<Consumer<NodeEvent>> silenced = new HashSet<>();

    int count() {
        return watches.size();
    }

    void add(WatchKind kind, String path, Consumer<NodeEvent> watch) {
        watches.add(kind, path, watch);
    }

    /** The event still spends the watch, but tells no one. */
    void silence(Consumer<NodeEvent> watch) {
        silenced.add(watch);
    }

    void forget(String path, Consumer<NodeEvent> watch) {
        watches.remove(path, watch);
        silenced.remove(watch);
    }

    void clear() {
        watches.clear();
    }

    /** Removes the watches that an event concerns. */
    Set<Consumer<NodeEvent>> spend(String path, WatchEvent event) {
        return watches.spend(path, event);
    }

    boolean isHeard(Consumer<NodeEvent> watch) {
        return !silenced.contains(watch);
    }

    /** Sets all watches on a new connection, whose server then reports what the client has missed. */
    SentRequest<Integer> setAgain(long seen, Choices choices) {
        List<String> data = inAnyOrder(watches.paths(WatchKind.DATA), choices);
        List<String> children = inAnyOrder(watches.paths(WatchKind.CHILDREN), choices);
        return SentRequest.ownRead(
                "set watches again",
                (server, asker) -> {
                    data.forEach(path -> server.watchAgain(WatchKind.DATA, path, seen, asker));
                    children.forEach(path -> server.watchAgain(WatchKind.CHILDREN, path, seen, asker));
                    return Answer.ok(data.size() + children.size());
                },
                answer -> {});
    }

    /**
     * The client names the watches of a kind in the order of a hash table, and the server answers one after the other.
     */
    private static List<String> inAnyOrder(Set<String> paths, Choices choices) {
        List<String> order = new ArrayList<>(paths);
        for (int i = 0; i < order.size() - 1; i++) {
            Collections.swap(order, i, i + choices.next(order.size() - i));
        }
        return order;
    }
}
