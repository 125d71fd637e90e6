// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/**
 * A limit of ZooKeeper is reached. This request fails alone, so that others are not affected. The message names the
 * limit and what to do:
 *
 * <ul>
 *   <li><b>A packet.</b> A path has too many children, a node too much data, or a request too many locks. Servers and
 *       clients drop a connection on which a packet exceeds their {@code jute.maxbuffer} (1 MiB by default).
 *   <li><b>A session.</b> It has so many nodes in queues that the servers could not log its end: the log record names
 *       all of them, and a record larger than {@code jute.maxbuffer} may keep a server from starting again. Nothing was
 *       sent.
 *   <li><b>The sequence counter</b> of the lock's path is nearly used up. ZooKeeper numbers two billion nodes below a
 *       path; after that the numbers repeat, and the order of requests would be unknown. Usually this passes: the path
 *       resets itself as soon as nobody holds the lock or waits for it. So release locks that are held for a long time,
 *       and try again later. The message says if the path cannot be reset.
 * </ul>
 */
public final class LockLimitException extends LockException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an error.
     *
     * @param message the path, the limit, and what to do
     */
    public LockLimitException(String message) {
        super(message);
    }
}
