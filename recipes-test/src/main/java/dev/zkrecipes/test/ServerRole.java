// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

/** The role of a server in an ensemble, as the server itself reports it. */
public enum ServerRole {
    /**
     * The server orders all writes. For a moment there may be a second leader, which does not know yet that it was
     * replaced.
     */
    LEADER,
    /**
     * The server answers reads by itself, and passes writes on to the leader that it follows or believes to follow.
     */
    FOLLOWER,
    /** The server serves no clients: it is down, or it is looking for a leader. */
    NONE
}
