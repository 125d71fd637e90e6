// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi.port;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;

/**
 * Port: what the engine requests from ZooKeeper on one handle, that is, in one session.
 *
 * <p>Requests are sent in the order of the calls. Calls come from the engine thread and return at once. Answers, watch
 * events and changes of state are delivered on the engine thread in the order in which the server sent them, each
 * answer exactly once, until {@link #close} is called; after that they may be missing. A request made while there is no
 * connection is sent on the next one or answered with a loss of the connection. What a call throws counts as the answer
 * to the request.
 */
public interface ZooKeeperOperations {

    /** Opens sessions. */
    @FunctionalInterface
    interface Factory {
        /**
         * Opens a session and returns at once.
         *
         * @param states receives every change of state on the engine thread, in order, beginning with the first after
         *     CONNECTING
         * @return the operations of the new session
         */
        ZooKeeperOperations open(Consumer<State> states);
    }

    /** The state of the session. */
    enum State {
        /** Not connected yet. */
        CONNECTING,
        /** Connected to a server that accepts writes. */
        CONNECTED,
        /** Connected to a read-only server. */
        READ_ONLY,
        /** The connection is lost. */
        DISCONNECTED,
        /** The session has ended, or the client believes so. Final. */
        EXPIRED,
        /** The handle was closed. Final. */
        CLOSED,
        /** The server refused the credentials. Final. */
        AUTH_FAILED;

        /** {@return whether the session has ended} */
        public boolean isFinal() {
            return this == EXPIRED || this == CLOSED || this == AUTH_FAILED;
        }
    }

    /** What a watch reports. */
    enum NodeEvent {
        /** The node was deleted. */
        DELETED,
        /** The watch fired for another reason: what it watches has changed, or somebody removed the watch. */
        CHANGED
    }

    /**
     * A created node.
     *
     * @param path its whole path, with the sequence number
     * @param stat its metadata at creation
     */
    record Created(String path, Stat stat) {}

    /**
     * The children of a node.
     *
     * @param names their names, in no order
     * @param stat the parent's metadata
     */
    record Children(List<String> names, Stat stat) {}

    /**
     * The content of a node.
     *
     * @param data its data
     * @param stat its metadata
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Content(byte[] data, Stat stat) {}

    /**
     * The rights on a node.
     *
     * @param acl its ACL, as the server shows it to this session
     * @param stat its metadata
     */
    record Access(List<ACL> acl, Stat stat) {}

    /**
     * {@return the state of the session when it was opened, after which the changes are reported: CONNECTED for a
     * handle of somebody else that was already connected}
     */
    State initialState();

    /** {@return the session's id; 0 before the first connection} */
    long sessionId();

    /** {@return the negotiated session time-out, once connected} */
    Duration sessionTimeout();

    /** {@return the handle itself; empty if there is no real one} */
    Optional<ZooKeeper> handle();

    /**
     * Creates an EPHEMERAL_SEQUENTIAL node.
     *
     * @param prefix the path without the sequence number
     * @param data the node's data
     * @param acl the node's ACL
     * @param reply receives the answer
     */
    void createEphemeralSequential(String prefix, byte[] data, List<ACL> acl, Consumer<Answer<Created>> reply);

    /**
     * Creates a CONTAINER node without data.
     *
     * @param path its path
     * @param acl its ACL
     * @param reply receives the path
     */
    void createContainer(String path, List<ACL> acl, Consumer<Answer<String>> reply);

    /**
     * Lists children, without a watch.
     *
     * @param path the parent
     * @param reply receives the answer
     */
    void children(String path, Consumer<Answer<Children>> reply);

    /**
     * Reads a node, without a watch.
     *
     * @param path its path
     * @param reply receives the answer
     */
    void read(String path, Consumer<Answer<Content>> reply);

    /**
     * Reads the ACL of a node.
     *
     * @param path its path
     * @param reply receives the answer, without digests if the client has no ADMIN right on the node
     */
    void acl(String path, Consumer<Answer<Access>> reply);

    /**
     * Reads a node and, if it exists, sets a one-shot watch on it, which fires on a change of its data and on its
     * deletion.
     *
     * @param path its path
     * @param watch receives the one event; the same object identifies the watch to {@link #dropWatch}
     * @param reply receives the answer
     */
    void readAndWatch(String path, Consumer<NodeEvent> watch, Consumer<Answer<Content>> reply);

    /**
     * Lists the children of a node and, if it exists, sets a one-shot watch on it, which fires on its deletion and when
     * a child is created or deleted, but not on a change of its data: on a node that cannot have children only on the
     * deletion.
     *
     * @param path its path
     * @param watch receives the one event; the same object identifies the watch to {@link #dropWatch}
     * @param reply receives the names of the children, in no order
     */
    void watchChildren(String path, Consumer<NodeEvent> watch, Consumer<Answer<List<String>>> reply);

    /**
     * Removes the client's side of a watch of either kind; without a connection, as soon as there is one. From this
     * call on, the watch receives nothing, not even the deletion of the node. A watch object stands for one watch, on
     * one node and of one kind, so both kinds on a node need two objects. The server's side may remain until the node
     * is deleted: ZooKeeper cannot remove it without removing every other watch of that kind that the handle has on the
     * node.
     *
     * @param path the watched node
     * @param watch what was given to {@link #readAndWatch} or {@link #watchChildren}
     */
    void dropWatch(String path, Consumer<NodeEvent> watch);

    /**
     * Deletes a node, whatever its version.
     *
     * @param path its path
     * @param reply receives the path
     */
    void delete(String path, Consumer<Answer<String>> reply);

    /**
     * Applies all operations or none, as one committed write.
     *
     * @param operations what to do
     * @param reply receives the results; also of a failed {@code multi}, as far as the server said which operation
     *     failed
     */
    void multi(List<Op> operations, Consumer<Answer<List<OpResult>>> reply);

    /**
     * Closes the session if it is the engine's own, otherwise only forgets it. May block; never called on the engine
     * thread.
     */
    void close();
}
