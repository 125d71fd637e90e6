// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.wire;

import java.util.HexFormat;
import java.util.random.RandomGenerator;

/** The unique part of the name of a node: 32 hexadecimal digits that no other node ever has. */
public final class NodeId {
    public static final int LENGTH = 32;

    private NodeId() {}

    public static String next(RandomGenerator random) {
        byte[] bits = new byte[LENGTH / 2];
        random.nextBytes(bits); // one call of the source, which costs more than all else here
        return HexFormat.of().formatHex(bits);
    }

    /** The id in the name of a node of this library; the whole name, if it is shorter. */
    public static String in(String nodeName) {
        return nodeName.substring(0, Math.min(LENGTH, nodeName.length()));
    }
}
