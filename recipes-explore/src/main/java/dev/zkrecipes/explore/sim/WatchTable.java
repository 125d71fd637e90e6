// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import com.google.common.collect.LinkedHashMultimap;
import com.google.common.collect.SetMultimap;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Watches and their owners. At a server the owners are connections, at a client they are watchers. An event that fires
 * watches of both kinds is reported to their owner once.
 */
final class WatchTable<W> {
    private final Map<WatchKind, SetMultimap<String, W>> watches = new EnumMap<>(WatchKind.class);

    WatchTable() {
        for (WatchKind kind : WatchKind.values()) {
            watches.put(kind, LinkedHashMultimap.create());
        }
    }

    private SetMultimap<String, W> of(WatchKind kind) {
        return Objects.requireNonNull(watches.get(kind));
    }

    void add(WatchKind kind, String path, W watcher) {
        of(kind).put(path, watcher);
    }

    /** Removes the watches that an event fires, and returns their owners. */
    Set<W> spend(String path, WatchEvent event) {
        Set<W> told = new LinkedHashSet<>();
        for (WatchKind kind : WatchKind.values()) {
            if (event.spends(kind)) {
                told.addAll(of(kind).removeAll(path));
            }
        }
        return told;
    }

    void remove(String path, W watcher) {
        watches.values().forEach(byPath -> byPath.remove(path, watcher));
    }

    void removeAll(W watcher) {
        watches.values().forEach(byPath -> byPath.values().removeIf(watcher::equals));
    }

    void clear() {
        watches.values().forEach(SetMultimap::clear);
    }

    /** The number of watches of both kinds, one for each node and watcher. */
    int size() {
        return watches.values().stream().mapToInt(SetMultimap::size).sum();
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
