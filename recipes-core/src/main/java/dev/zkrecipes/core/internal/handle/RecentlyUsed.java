// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.handle;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A map that keeps the {@value #MOST} entries used last. Guava's cache does the same, but starts Java's logging, which
 * a short-lived process waits for. Confined to the engine thread.
 */
@SuppressWarnings("serial") // nobody writes it anywhere
public final class RecentlyUsed<K, V> extends LinkedHashMap<K, V> {
    private static final int MOST = 10_000;

    public RecentlyUsed() {
        super(16, 0.75f, true);
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
        return size() > MOST;
    }
}
