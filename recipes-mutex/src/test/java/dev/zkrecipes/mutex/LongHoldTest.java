// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The proof of a lease, where it is needed: with a follower that may be cut off and a process that may be stopped. */
class LongHoldTest {
    private static final int SCHEDULES = 400;

    @Test
    @Tag("H07")
    void lease_isNotValid_whenItsNodeIsGone() {
        Map<Long, List<String>> stale = LongStream.rangeClosed(1, SCHEDULES)
                .boxed()
                .parallel()
                .collect(Collectors.toConcurrentMap(seed -> seed, LongHold::play));
        stale.values().removeIf(List::isEmpty);
        assertThat(stale).as("stale leases, by seed").isEmpty();
    }
}
