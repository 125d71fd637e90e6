// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

/** The state of a {@link ZooKeeperClient}'s connection to ZooKeeper. */
public enum ConnectionState {
    /** No connection has been made yet in the current session. */
    CONNECTING,
    /** Connected to a server that accepts writes. */
    CONNECTED,
    /** The connection is lost; the session, and with it every lock, may still live. */
    SUSPENDED,
    /**
     * The session is lost, and every lease of it. Said when a server says so, and before that by the clock of this
     * process: as soon as a lease is lost because nothing has confirmed the session for a whole session time-out, or
     * when there was no connection for so long. Stop whatever relies on the session. It is said once for each session,
     * unless that turns out to live, which is said as {@link #CONNECTED}; its leases stay lost. Otherwise a client that
     * opens its own sessions opens the next one, and says {@link #CONNECTING} when it does.
     */
    EXPIRED,
    /**
     * The client cannot have the identity that it was given: its login failed, so there is no session, or ZooKeeper
     * refused the credentials, and with that the session has ended. Every lease is lost, and requests fail with {@link
     * LockAccessException}. A client that opens its own sessions logs in again after pauses of up to a minute; one
     * without a login opens the next session when it is asked for a lock again.
     */
    AUTH_FAILED,
    /** The client was closed, or a handle that it wraps was. */
    CLOSED
}
