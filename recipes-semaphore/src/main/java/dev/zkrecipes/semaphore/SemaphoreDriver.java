// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.semaphore;

import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.FifoDriver;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.SharedRuleDriver;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The rule of a semaphore: a request is granted if its permits and those of all requests in front of it are together
 * within the limit. A request for several permits has one node; their number is the payload of its name.
 *
 * <p>Leases are closed in any order, so a request does not wait for one particular node. It waits for the nearest nodes
 * in front of it, as few as have more permits together than the limit leaves beside its own. As long as all of these
 * exist, it cannot be granted.
 *
 * @param path the path of the semaphore, for errors
 * @param limit the limit that this driver decides by
 * @param permits how many permits this request needs
 */
record SemaphoreDriver(String path, SemaphoreLimit limit, int permits) implements SharedRuleDriver, FifoDriver {
    static final String KIND = "lease.";

    @Override
    public String nodeName() {
        return KIND + permits + "-";
    }

    @Override
    public Optional<LockNode> parse(String childName) {
        return LockNode.parseWithPayload(childName, KIND)
                .filter(node -> Permits.parse(node.payload()).isPresent());
    }

    @Override
    public byte[] initialRule() {
        return SemaphoreLimit.of(limit.configured()).encode();
    }

    @Override
    public LockDriver under(byte[] rule) {
        SemaphoreLimit found = SemaphoreLimit.decode(path, rule);
        found.requireConfigured(path, limit.configured());
        return new SemaphoreDriver(path, found, permits);
    }

    @Override
    public Optional<LockDriver> underEarlier(byte[] rule) {
        return SemaphoreLimit.decode(path, rule)
                .beforeResize()
                .map(earlier -> new SemaphoreDriver(path, earlier, permits));
    }

    @Override
    public Decision decide(List<LockNode> predecessors, LockNode self) {
        int own = permits(self);
        long room = (long) limit.current() - own;
        if (room < 0) {
            return Decision.never("it asks for " + own + " permits, and the limit is " + limit.current());
        }
        long inFront = 0;
        for (int i = predecessors.size() - 1; i >= 0; i--) {
            inFront += permits(predecessors.get(i));
            if (inFront > room) {
                return Decision.waitFor(predecessors.subList(i, predecessors.size()));
            }
        }
        return Decision.granted();
    }

    /**
     * Ignores the number of permits: requests of all sizes are in one queue, and the name of each node has its number.
     */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof SemaphoreDriver that && path.equals(that.path) && limit.equals(that.limit);
    }

    @Override
    public int hashCode() {
        return Objects.hash(path, limit);
    }

    /** Returns how many permits a node of a semaphore requests or holds. */
    static int permits(LockNode node) {
        return Permits.parse(node.payload()).orElseThrow();
    }
}
