// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.rwlock;

import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.FifoDriver;
import dev.zkrecipes.core.spi.LockNode;
import java.util.List;
import java.util.Optional;

/**
 * The rule of a read-write lock: readers hold it together, a writer holds it alone. A reader waits only for the nearest
 * writer in front of it. A writer waits for the request directly in front of it. Both are in one queue, so neither side
 * starves.
 *
 * <p>The names are those of Apache Curator, without a dash between kind and number: with a dash, Curator would sort
 * these nodes wrongly.
 */
enum ReadWriteDriver implements FifoDriver {
    /** Holds the lock together with other readers. */
    READ("__READ__"),

    /** Holds the lock alone. */
    WRITE("__WRIT__");

    private final String kind;

    ReadWriteDriver(String kind) {
        this.kind = kind;
    }

    @Override
    public String nodeName() {
        return kind;
    }

    @Override
    public Optional<LockNode> parse(String childName) {
        return LockNode.parse(childName, READ.kind).or(() -> LockNode.parse(childName, WRITE.kind));
    }

    /**
     * Decides by the kind of the node, not of the driver: to find out who holds the lock, either driver is asked about
     * the nodes of both.
     */
    @Override
    public Decision decide(List<LockNode> predecessors, LockNode self) {
        if (self.kind().equals(WRITE.kind)) {
            return Decision.grantedIfFirst(predecessors);
        }
        for (int i = predecessors.size() - 1; i >= 0; i--) {
            if (predecessors.get(i).kind().equals(WRITE.kind)) {
                return Decision.waitFor(predecessors.get(i));
            }
        }
        return Decision.granted();
    }
}
