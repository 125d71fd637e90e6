// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Watches and their owners. At a server the owners are connections, at a client they are watchers. An event that uses
 * up watches of both kinds of one owner is reported to it once.
 */
final class WatchTable<W> {
    private final Map<WatchKind, Map<String, Set<W>>> watches = new EnumMap<>(WatchKind.class);

    WatchTable() {
        for (WatchKind kind : WatchKind.values()) {
            watches.put(kind, new LinkedHashMap<>());
        }
    }

    private Map<String, Set<W>> of(WatchKind kind) {
        return watches.getOrDefault(kind, Map.of());
    }

    void add(WatchKind kind, String path, W watcher) {
        of(kind).computeIfAbsent(path, key -> new LinkedHashSet<>()).add(watcher);
    }

    /** Removes the watches that an event uses up, and returns their owners. */
    Set<W> spend(String path, WatchEvent event) {
        Set<W> told = Set.of();
        for (WatchKind kind : WatchKind.values()) {
            Set<W> spent = event.spends(kind) ? of(kind).remove(path) : null;
            if (spent != null && told.isEmpty()) {
                told = spent;
            } else if (spent != null) {
                told.addAll(spent);
            }
        }
        return told;
    }

    void remove(String path, W watcher) {
        for (Map<String, Set<W>> byPath : watches.values()) {
            Set<W> watchers = byPath.get(path);
            if (watchers != null && watchers.remove(watcher) && watchers.isEmpty()) {
                byPath.remove(path);
            }
        }
    }

    void removeAll(W watcher) {
        for (Map<String, Set<W>> byPath : watches.values()) {
            byPath.values().forEach(watchers -> watchers.remove(watcher));
            byPath.values().removeIf(Set::isEmpty);
        }
    }

    void clear() {
        watches.values().forEach(Map::clear);
    }

    boolean isEmpty() {
        return watches.values().stream().allMatch(Map::isEmpty);
    }

    /** The number of watches of both kinds, one for each node and watcher. */
    int size() {
        return watches.values().stream()
                .flatMap(byPath -> byPath.values().stream())
                .mapToInt(Set::size)
                .sum();
    }

    Set<String> paths(WatchKind kind) {
        return of(kind).keySet();
    }

    Set<String> paths() {
        Set<String> all = new LinkedHashSet<>();
        watches.values().forEach(byPath -> all.addAll(byPath.keySet()));
        return all;
    }
}
