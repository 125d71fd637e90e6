// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/**
 * ZooKeeper cannot carry a request or its answer: a path with too many children, a node with too much data, or too many
 * locks in one request. Servers and clients drop a connection on which a packet exceeds their {@code jute.maxbuffer}
 * (1 MiB by default), so this request fails alone instead of breaking the connection for all others again and again.
 */
public final class PacketTooLargeException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes an error.
     *
     * @param message the path, what is too large, and what to do
     */
    public PacketTooLargeException(String message) {
        super(message);
    }
}
