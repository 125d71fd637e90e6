// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

/** What a server of an ensemble does now, by its own account. */
public enum ServerRole {
    /** Orders all writes. There may be a second one for a moment that does not know yet that it was replaced. */
    LEADER,
    /** Answers reads by itself and passes writes on to the leader that it follows, or believes to follow. */
    FOLLOWER,
    /** Serves no client: it is down, or it looks for a leader. */
    NONE
}
