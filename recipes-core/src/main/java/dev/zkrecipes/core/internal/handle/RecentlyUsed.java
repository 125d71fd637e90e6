// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.handle;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A map that keeps the {@value #MOST} most recently used entries, so that the memory of a client does not grow with the
 * number of its paths. Guava's cache does the same, but it loads {@code java.util.logging}, which delays the start of a
 * short-lived process. Confined to the engine thread.
 */
@SuppressWarnings("serial") // never serialized
public final class RecentlyUsed<K, V> extends LinkedHashMap<K, V> {
    private static final int MOST = 10_000;

    /** Creates a map in access order, in which the eldest entry is the least recently used one. */
    public RecentlyUsed() {
        super(16, 0.75f, true);
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
        return size() > MOST;
    }
}
