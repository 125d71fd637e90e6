// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.wire;

import java.util.HexFormat;
import java.util.random.RandomGenerator;

/**
 * The unique part of a node's name: 32 hexadecimal digits, which no other node ever has. If the answer to a create is
 * lost, it identifies the created node.
 */
public final class NodeId {
    public static final int LENGTH = 32;

    private NodeId() {}

    public static String next(RandomGenerator random) {
        byte[] bits = new byte[LENGTH / 2];
        random.nextBytes(bits); // in one call, since a secure source is slow
        return HexFormat.of().formatHex(bits);
    }

    /** Returns the id in the name of a node of this library; the whole name if it is shorter than an id. */
    public static String in(String nodeName) {
        return nodeName.substring(0, Math.min(LENGTH, nodeName.length()));
    }
}
