// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/** The state of a {@link ZooKeeperClient}'s connection to ZooKeeper. */
public enum ConnectionState {
    /** No connection has been established yet in the current session. */
    CONNECTING,
    /** Connected to a server that accepts writes. */
    CONNECTED,
    /** The connection is lost; the session, and with it every lock, may still be alive. */
    SUSPENDED,
    /**
     * The session is lost, and with it all its leases. The client reports this when a server says so, or earlier by the
     * clock of this process: as soon as a lease is lost because nothing has confirmed the session for a whole session
     * time-out, or when there has been no connection for that long. Stop whatever relies on the session. The state is
     * reported once for each session, unless the session turns out to be alive, which is reported as
     * {@link #CONNECTED}; its leases stay lost. Otherwise a client that opens its own sessions opens the next one, and
     * then reports {@link #CONNECTING}.
     */
    EXPIRED,
    /**
     * The client cannot have the identity that it was given: its login failed, so there is no session, or ZooKeeper
     * refused the credentials, which has ended the session. Every lease is lost, and requests fail with
     * {@link LockAccessException}. A client that opens its own sessions logs in again after pauses of up to a minute;
     * one without a login opens the next session when a lock is requested again. Requests of a client with supplied
     * handles wait until the supplier returns another handle, and fail if their time is over before.
     */
    AUTH_FAILED,
    /** The client, or a handle that it wraps, was closed. */
    CLOSED
}
