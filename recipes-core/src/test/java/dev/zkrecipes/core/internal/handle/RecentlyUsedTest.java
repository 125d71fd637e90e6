// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.handle;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RecentlyUsedTest {
    private static final int MOST = 10_000;

    private final RecentlyUsed<Integer, String> map = new RecentlyUsed<>();

    @Test
    void entryUsedLongestAgo_isForgottenFirst() {
        for (int key = 0; key < MOST; key++) {
            map.put(key, "old");
        }
        assertThat(map.get(0)).isEqualTo("old");
        map.put(MOST, "new");
        assertThat(map.get(0)).isEqualTo("old");
        assertThat(map.get(1)).isNull();
        assertThat(map.get(MOST)).isEqualTo("new");
    }

    @Test
    void removedEntry_isGone() {
        map.put(1, "one");
        map.remove(1);
        assertThat(map.get(1)).isNull();
        assertThat(map.isEmpty()).isTrue();
    }
}
