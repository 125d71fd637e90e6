// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.apache.zookeeper.CreateMode;

/**
 * What a running server holds: reads come straight from its memory and cost no request; changes are those of an
 * operator.
 *
 * <p>A change takes the server's ordinary way, so watches fire, but as its own super user: it opens no session, is
 * refused by no ACL, is not in the counts of requests, and has been applied when the call returns.
 *
 * <p>Implementations are thread-safe. All methods throw {@link IllegalStateException} while the server is stopped.
 */
public sealed interface ServerTree permits EmbeddedZooKeeper, LiveTree {
    /**
     * Counts the watches that are set on the server, for data, existence and children together; a path that one session
     * watches twice counts once in each kind.
     *
     * @return the number of watches
     */
    int watchCount();

    /**
     * Tells who watches a node: who would hear of its change or deletion because of a read of its data or existence.
     *
     * @param path the node
     * @return the ids of the sessions in ascending order; empty if there are none
     */
    List<Long> watchers(String path);

    /**
     * Tells who watches the children of a node: who would hear of its deletion, or that a child comes or goes, because
     * of a list. On a node that cannot have children that is a watch for its deletion only.
     *
     * @param path the node
     * @return the ids of the sessions in ascending order; empty if there are none
     */
    List<Long> childWatchers(String path);

    /**
     * Lists children, straight from the server's memory.
     *
     * @param path the parent
     * @return their names in the order of {@link String#compareTo}; empty if the parent does not exist
     */
    List<String> children(String path);

    /**
     * Tells whether a node exists, straight from the server's memory.
     *
     * @param path the node
     * @return whether it exists
     */
    boolean nodeExists(String path);

    /**
     * Reads a node, straight from the server's memory.
     *
     * @param path the node
     * @return a copy of its data, of length 0 if it has none; empty if the node does not exist
     */
    Optional<byte[]> data(String path);

    /**
     * Lists the ephemeral nodes of a session.
     *
     * @param sessionId the session
     * @return their paths in the order of {@link String#compareTo}; empty if there are none or no such session
     */
    List<String> ephemerals(long sessionId);

    /**
     * Tells which session an ephemeral node belongs to.
     *
     * @param path the node
     * @return its session; empty if it does not exist or is not ephemeral
     */
    OptionalLong owner(String path);

    /**
     * Returns the number of the last transaction that was applied.
     *
     * @return its zxid
     */
    long lastZxid();

    /**
     * Creates a persistent node that any client may change.
     *
     * @param path the node; its parent must exist
     * @param data its data
     * @throws IllegalArgumentException if ZooKeeper refuses; its exception is the cause
     */
    void createNode(String path, byte[] data);

    /**
     * Creates a node that any client may change.
     *
     * @param path the node, for a sequential one without the number; its parent must exist
     * @param data its data
     * @param mode what it is; not ephemeral, as an operator has no session here, and without a time to live
     * @return its path, for a sequential one with the number
     * @throws IllegalArgumentException if the mode is not possible, or if ZooKeeper refuses; its exception is the cause
     */
    String createNode(String path, byte[] data, CreateMode mode);

    /**
     * Writes a node, whatever its version.
     *
     * @param path the node
     * @param data its new data
     * @throws IllegalArgumentException if ZooKeeper refuses; its exception is the cause
     */
    void setData(String path, byte[] data);

    /**
     * Deletes a node that has no children, whatever its version.
     *
     * @param path the node
     * @throws IllegalArgumentException if ZooKeeper refuses; its exception is the cause
     */
    void deleteNode(String path);

    /**
     * Ages a path: its next sequential child gets this number, as if so many had been created before. Sequence numbers
     * are as long as the server's counter of creations, which a restart keeps and which never goes back. It sticks at
     * {@link Integer#MAX_VALUE}: from then on all get that number, and the server logs digest mismatches, as a real one
     * does.
     *
     * <p>No other client should be creating or deleting children of the path at that moment.
     *
     * @param path the parent
     * @param next the number, not less than the one that would come anyway
     * @throws IllegalArgumentException if the path does not exist or its next number is higher already
     */
    void setSequenceCounter(String path, int next);

    /**
     * Removes the containers that had children and are empty now, without waiting for the next check (see {@link
     * EmbeddedZooKeeperBuilder#containerCheckInterval}). They are gone when this returns, unless somebody made a child
     * meanwhile.
     */
    void reapContainers();
}
