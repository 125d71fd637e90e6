// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A map that keeps the {@value #MOST} entries used last. Guava's cache does the same, but starts Java's logging, which
 * a short-lived process waits for. Confined to the engine thread.
 */
final class RecentlyUsed<K, V> {
    private static final int MOST = 10_000;

    private final Map<K, V> entries = new LinkedHashMap<>(16, 0.75f, true);

    @Nullable
    V get(K key) {
        return entries.get(key);
    }

    void put(K key, V value) {
        entries.put(key, value);
        if (entries.size() > MOST) {
            entries.remove(entries.keySet().iterator().next());
        }
    }

    void remove(K key) {
        entries.remove(key);
    }

    boolean isEmpty() {
        return entries.isEmpty();
    }
}
