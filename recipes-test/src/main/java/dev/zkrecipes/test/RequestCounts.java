// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * The number of requests of each type up to some moment. Immutable. Subtract one snapshot from another to see what an
 * operation cost.
 *
 * <pre>{@code
 * RequestCounts before = server.requests();
 * zooKeeper.exists("/a", false);
 * RequestCounts cost = server.requests().minus(before);
 * assertThat(cost.total()).as(cost.toString()).isEqualTo(1);
 * }</pre>
 */
public final class RequestCounts {
    /** Contains only types that occurred, so that equal counts are equal maps. */
    private final Map<RequestType, Long> counts = new EnumMap<>(RequestType.class);

    RequestCounts(Map<RequestType, Long> counts) {
        counts.forEach((type, count) -> {
            if (count != 0) {
                this.counts.put(type, count);
            }
        });
    }

    /**
     * {@return the number of requests of a type}
     *
     * @param type the type
     */
    public long of(RequestType type) {
        return counts.getOrDefault(type, 0L);
    }

    /**
     * {@return the number of requests of all types except those that only keep a session: {@link RequestType#PING},
     * {@link RequestType#CREATE_SESSION}, {@link RequestType#RESUME_SESSION} and {@link RequestType#CLOSE_SESSION}}
     * Such requests are sent at times that depend on the clock, so including them would make every count unpredictable.
     */
    public long total() {
        long total = 0;
        for (RequestType type : RequestType.values()) {
            total += type.isSessionKeeping() ? 0 : of(type);
        }
        return total;
    }

    /**
     * {@return whether exactly these requests occurred, apart from those that only keep a session}
     *
     * @param expected each type as often as its requests are expected
     */
    public boolean consistsOf(RequestType... expected) {
        return total() == expected.length
                && Arrays.stream(expected)
                        .allMatch(type -> of(type)
                                == Arrays.stream(expected).filter(type::equals).count());
    }

    /**
     * {@return the requests added since an earlier snapshot of the same server or proxy, type by type}
     *
     * @param earlier the earlier snapshot
     * @throws IllegalArgumentException if {@code earlier} has more requests of some type, so it was taken later or from
     *     another server or proxy
     */
    public RequestCounts minus(RequestCounts earlier) {
        Map<RequestType, Long> difference = new EnumMap<>(RequestType.class);
        for (RequestType type : RequestType.values()) {
            long added = of(type) - earlier.of(type);
            if (added < 0) {
                throw new IllegalArgumentException("not an earlier snapshot of the same counter: " + earlier + " is not"
                        + " contained in " + this + "; write later.minus(earlier)");
            }
            difference.put(type, added);
        }
        return new RequestCounts(difference);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RequestCounts that && counts.equals(that.counts);
    }

    @Override
    public int hashCode() {
        return counts.hashCode();
    }

    /**
     * Returns the total and the count of each type that occurred, such as {@code 3 requests [CREATE2=1,
     * GET_CHILDREN2=2], apart [PING=4]}.
     */
    @Override
    public String toString() {
        StringJoiner counted = new StringJoiner(", ", "[", "]");
        StringJoiner apart = new StringJoiner(", ", ", apart [", "]").setEmptyValue("");
        for (RequestType type : RequestType.values()) {
            if (of(type) > 0) {
                (type.isSessionKeeping() ? apart : counted).add(type + "=" + of(type));
            }
        }
        return total() + (total() == 1 ? " request " : " requests ") + counted + apart;
    }

    /** Counts requests from many threads. Users get snapshots of it. */
    static final class Counter {
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
}
