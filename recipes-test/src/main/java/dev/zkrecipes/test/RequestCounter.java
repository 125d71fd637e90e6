// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts requests from many threads; what users see of it are snapshots. */
final class RequestCounter {
    private final Map<RequestType, LongAdder> counts = new ConcurrentHashMap<>();

    void add(RequestType type) {
        counts.computeIfAbsent(type, key -> new LongAdder()).increment();
    }

    RequestCounts snapshot() {
        Map<RequestType, Long> copy = new EnumMap<>(RequestType.class);
        counts.forEach((type, count) -> copy.put(type, count.sum()));
        return new RequestCounts(copy);
    }
}
