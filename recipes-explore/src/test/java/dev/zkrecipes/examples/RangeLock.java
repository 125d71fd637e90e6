// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNode;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Locks ranges of one thing, such as the bytes of a file: two holders never overlap in {@code [from, to)}. First come,
 * first served: a request waits for every overlapping one in front of it, even for one that is waiting itself.
 */
public final class RangeLock {
    private static final String KIND = "range.";
    private final ZooKeeperClient client;
    private final String path;

    /** Makes a lock on a path; sends nothing. */
    public RangeLock(ZooKeeperClient client, String path) {
        this.client = client;
        this.path = path;
    }

    /** The lock of one range, re-entrant per thread. A thread holds one range at a time: another one is refused. */
    public InterProcessLock lock(long from, long to) {
        if (from >= to) {
            throw new IllegalArgumentException("the range [" + from + ", " + to + ") is empty");
        }
        Driver driver = new Driver(new Range(from, to));
        return new LockInternals(client, path, driver, LockOptions.defaults()).threadOwned();
    }

    /** As payload: each bound as 16 hexadecimal digits of its two's complement, one spelling for every long. */
    record Range(long from, long to) {
        private static final Pattern PAYLOAD = Pattern.compile("[0-9a-f]{16}\\.[0-9a-f]{16}");

        static Optional<Range> of(LockNode node) {
            if (!PAYLOAD.matcher(node.payload()).matches()) {
                return Optional.empty();
            }
            long from = HexFormat.fromHexDigitsToLong(node.payload(), 0, 16);
            long to = HexFormat.fromHexDigitsToLong(node.payload(), 17, 33);
            return from < to ? Optional.of(new Range(from, to)) : Optional.empty();
        }

        String payload() {
            return HexFormat.of().toHexDigits(from) + "." + HexFormat.of().toHexDigits(to);
        }

        boolean overlaps(Range other) {
            return from < other.to && other.from < to;
        }
    }

    record Driver(Range own) implements LockDriver {
        @Override
        public String nodeName() {
            return KIND + own.payload() + "-";
        }

        @Override
        public Optional<LockNode> parse(String childName) {
            return LockNode.parseWithPayload(childName, KIND)
                    .filter(node -> Range.of(node).isPresent());
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            Range wanted = Range.of(self).orElseThrow();
            for (int i = predecessors.size() - 1; i >= 0; i--) {
                if (Range.of(predecessors.get(i)).orElseThrow().overlaps(wanted)) {
                    return Decision.waitFor(predecessors.get(i));
                }
            }
            return Decision.granted();
        }
    }
}
