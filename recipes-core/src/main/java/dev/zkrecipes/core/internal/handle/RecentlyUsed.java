// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.handle;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A map that keeps the {@value #MOST} entries that were used last, so that what a client remembers does not grow with
 * the number of its paths. Guava's cache does the same, but it loads Java's logging, which makes a short-lived
 * process start later. Confined to the engine thread.
 */
@SuppressWarnings("serial") // never serialized
public final class RecentlyUsed<K, V> extends LinkedHashMap<K, V> {
    private static final int MOST = 10_000;

    /** In the order of use, so that the eldest entry is the one that was not used for the longest time. */
    public RecentlyUsed() {
        super(16, 0.75f, true);
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
        return size() > MOST;
    }
}
