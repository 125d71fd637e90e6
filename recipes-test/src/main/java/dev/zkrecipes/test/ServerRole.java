// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

/** The role of a server in an ensemble, as the server itself reports it. */
public enum ServerRole {
    /**
     * The server orders all writes. For a moment there may be a second leader, which does not know yet that it has been
     * replaced.
     */
    LEADER,
    /** The server answers reads by itself, and forwards writes to the leader that it follows or believes it follows. */
    FOLLOWER,
    /** The server serves no clients: it is down, or it is taking part in an election. */
    NONE
}
