// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

/** What can go wrong in a schedule, besides late messages. */
enum FaultKind {
    /** A connection breaks; what is under way may or may not arrive. */
    DISCONNECT,
    /** A connection is silently dead for a while. */
    STALL,
    /** No server can be reached from a process for a while. */
    OUTAGE,
    /** A process is paused for a while, perhaps beyond the end of its session. */
    PAUSE,
    /** The ensemble ends a session. */
    EXPIRY,
    /** A follower is cut off from its leader and continues to serve reads. */
    CUT_FOLLOWER,
    /** The leader is cut off, and another one is elected. Some of the pending transactions survive. */
    DEPOSED_LEADER,
    /** An operator deletes a lock node. */
    DELETION,
    /**
     * An operator revokes the right to read a node that holds a lock, and deletes it. No watch reports the deletion to
     * anybody.
     */
    UNTOLD_DELETION,
    /**
     * An operator deletes the node of a waiter at about the time when the node in front of it is deleted. At about the
     * same time, somebody may write to the node in front, and the connection of the waiter may break.
     */
    LOST_PLACE,
    /** Somebody writes to a lock node or to the path of the lock, which fires the watches on it. */
    CHANGE,
    /** The server removes empty lock paths. In half of the schedules it does so repeatedly. */
    REAPING,
    /**
     * When a lease is released and nobody waits, a node of another process enters the queue and stays for a while.
     * Before that, the path may be deleted and recreated such that its numbers continue as if that had not happened.
     * Just before, somebody may write to the path, which fires the watches on it.
     */
    STRANGER,
    /** A thread is interrupted while it waits. */
    INTERRUPT,
    /** A process closes its client. */
    CLOSE,
    /** A connection breaks, and a thread of the server passes a write on only after the session has come back. */
    LATE_WRITE,
    /** The servers have lost a transaction that a process has seen, and refuse its session forever. */
    LOST_DATA
}
