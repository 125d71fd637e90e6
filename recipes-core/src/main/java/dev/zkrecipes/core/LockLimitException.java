// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/**
 * A limit of ZooKeeper's is reached, so this request fails alone instead of troubling all others. The message names the
 * limit and what to do:
 *
 * <ul>
 *   <li><b>A packet.</b> A path has too many children, a node too much data, or a request too many locks. Servers and
 *       clients drop a connection on which a packet exceeds their {@code jute.maxbuffer} (1 MiB by default).
 *   <li><b>A session.</b> It has so many nodes in queues that the server could not log its end: that record names them
 *       all, and one larger than {@code jute.maxbuffer} may keep a server from starting again. Nothing was sent.
 *   <li><b>The sequence counter</b> of the lock's path is nearly used up. ZooKeeper numbers two billion nodes below a
 *       path; after that numbers repeat, and the order of requests would be unknown. Most often this passes: the path
 *       resets itself as soon as nobody holds the lock or waits for it, so release what is held for long, and try again
 *       later. The message says if the path cannot be reset.
 * </ul>
 */
public final class LockLimitException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Makes an error.
     *
     * @param message the path, the limit, and what to do
     */
    public LockLimitException(String message) {
        super(message);
    }
}
