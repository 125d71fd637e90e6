// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.zookeeper.ZooDefs.OpCode;

/**
 * The kinds of request that a ZooKeeper client can send, one for each operation code of the protocol.
 *
 * <p>The method that a program calls determines the code: {@code create} without a {@code Stat} sends
 * {@link #CREATE}, with a {@code Stat} it sends {@link #CREATE2}; {@code getChildren} without a {@code Stat} sends
 * {@link #GET_CHILDREN}, with a {@code Stat} it sends {@link #GET_CHILDREN2}. A transaction is one {@link #MULTI},
 * whatever it contains.
 */
public enum RequestType {
    /** Create a node; the reply contains only the path. */
    CREATE(OpCode.create),
    /** Create a node; the reply also contains its {@code Stat}. */
    CREATE2(OpCode.create2),
    /** Create a container node. */
    CREATE_CONTAINER(OpCode.createContainer),
    /** Create a node with a time to live. */
    CREATE_TTL(OpCode.createTTL),
    /** Delete a node. */
    DELETE(OpCode.delete),
    /** Delete an empty container; normally only the server itself sends this request. */
    DELETE_CONTAINER(OpCode.deleteContainer),
    /** Ask whether a node exists. */
    EXISTS(OpCode.exists),
    /** Read a node. */
    GET_DATA(OpCode.getData),
    /** Write a node. */
    SET_DATA(OpCode.setData),
    /** Read the ACL of a node. */
    GET_ACL(OpCode.getACL),
    /** Write the ACL of a node. */
    SET_ACL(OpCode.setACL),
    /** List children; the reply contains only the names. */
    GET_CHILDREN(OpCode.getChildren),
    /** List children; the reply also contains the {@code Stat} of the parent. */
    GET_CHILDREN2(OpCode.getChildren2),
    /** Count all nodes below a path. */
    GET_ALL_CHILDREN_NUMBER(OpCode.getAllChildrenNumber),
    /** List the ephemeral nodes of the session. */
    GET_EPHEMERALS(OpCode.getEphemerals),
    /** A transaction. */
    MULTI(OpCode.multi),
    /** Several reads in one request. */
    MULTI_READ(OpCode.multiRead),
    /** A version check outside a transaction. */
    CHECK(OpCode.check),
    /** Let the server catch up with the leader. */
    SYNC(OpCode.sync),
    /** Set the watches of the session again after a reconnect. */
    SET_WATCHES(OpCode.setWatches),
    /** Set the watches of the session again, including persistent ones. */
    SET_WATCHES2(OpCode.setWatches2),
    /** Add a persistent watch. */
    ADD_WATCH(OpCode.addWatch),
    /** Ask whether the server knows a watch, before the client removes its own side of it. */
    CHECK_WATCHES(OpCode.checkWatches),
    /** Remove watches. */
    REMOVE_WATCHES(OpCode.removeWatches),
    /** Change the ensemble. */
    RECONFIG(OpCode.reconfig),
    /** Ask for the identities of the connection. */
    WHO_AM_I(OpCode.whoAmI),
    /** Add an identity to the connection. */
    AUTH(OpCode.auth),
    /** A step of a SASL login. */
    SASL(OpCode.sasl),
    /** A ping. */
    PING(OpCode.ping),
    /** The first packet of a connection that requests a new session. */
    CREATE_SESSION(OpCode.createSession),
    /** The first packet of a connection that resumes a session, alive or not. It has no operation code. */
    RESUME_SESSION(Integer.MIN_VALUE),
    /** End the session. */
    CLOSE_SESSION(OpCode.closeSession),
    /** An operation code that this kit does not know. */
    OTHER(Integer.MAX_VALUE);

    private static final Map<Integer, RequestType> BY_CODE =
            Arrays.stream(values()).collect(Collectors.toMap(type -> type.opCode, Function.identity()));

    private final int opCode;

    RequestType(int opCode) {
        this.opCode = opCode;
    }

    static RequestType ofOpCode(int opCode) {
        return BY_CODE.getOrDefault(opCode, OTHER);
    }

    /** Returns the type of the first packet of a connection: the session id 0 requests a new session. */
    static RequestType ofConnect(long sessionId) {
        return sessionId == 0 ? CREATE_SESSION : RESUME_SESSION;
    }

    /**
     * {@return whether the request only keeps a session: a ping, or the start, the resumption or the end of a
     * session}
     */
    public boolean isSessionKeeping() {
        return this == PING || this == CREATE_SESSION || this == RESUME_SESSION || this == CLOSE_SESSION;
    }
}
