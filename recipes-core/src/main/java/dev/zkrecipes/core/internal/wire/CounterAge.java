// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.wire;

import dev.zkrecipes.core.spi.LockNode;
import org.apache.zookeeper.data.Stat;

/**
 * How far the counter is from which ZooKeeper numbers the children of a path. It sticks at 2^31-1, after which numbers
 * repeat, so it is started anew long before that, by deleting and recreating the path.
 */
public final class CounterAge {
    /** From here on, a holder that saw no other node resets the counter when it leaves. */
    public static final long OLD = 1L << 30;

    /** From here on nothing is granted. The remaining numbers are for requests that only discover this. */
    public static final long WORN_OUT = (1L << 31) - (1L << 20);

    private CounterAge() {}

    /**
     * The number in the name, or path, of a sequential node; past the end, of what ZooKeeper wrote as a negative one.
     */
    public static long of(String node) {
        int length = node.length();
        return Long.parseLong(node, length - LockNode.SEQUENCE_DIGITS, length, 10);
    }

    /** The number that the next child of a node will get. */
    public static long next(Stat parent) {
        // The server counts creates, and tells clients the count of changes: creates plus deletes, in 32 bits.
        return Integer.toUnsignedLong(parent.getCversion() + parent.getNumChildren()) / 2;
    }
}
