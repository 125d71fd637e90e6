// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import dev.zkrecipes.core.internal.wire.Printable;
import java.time.Duration;
import java.util.Objects;

/**
 * One node in the queue of a lock, as {@link InterProcessLock#participants()} found it.
 *
 * @param path the path of the lock
 * @param node the name of the node below the lock's path
 * @param kind what the node requests, as the recipe names it: {@code lock-}, {@code __READ__}, {@code __WRIT__},
 *     {@code lease.}, {@code latch-} of a leader election, or the kind of a custom driver
 * @param payload what the kind carries, such as the number of permits; empty if nothing
 * @param owner the owner label of the client that created the node, or {@code "unknown"} if the node carries none or
 *     may not be read
 * @param sessionId the ZooKeeper session that owns the node
 * @param age the time since the node was created: from the server's clock at creation to the clock of this machine, so
 *     it is for people to read, not to compute with; never negative
 * @param position the place in the queue; 0 is the front
 * @param holding whether this node holds the lock; otherwise it waits
 */
public record Participant(
        String path,
        String node,
        String kind,
        String payload,
        String owner,
        long sessionId,
        Duration age,
        int position,
        boolean holding) {

    /**
     * Creates a participant.
     *
     * @param path the path of the lock
     * @param node the name of the node
     * @param kind what the node requests
     * @param payload what the kind carries
     * @param owner the owner label
     * @param sessionId the session
     * @param age the time since the node was created
     * @param position the place in the queue
     * @param holding whether it holds
     */
    public Participant {
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(node, "node");
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(payload, "payload");
        Objects.requireNonNull(owner, "owner");
        Objects.requireNonNull(age, "age");
    }

    /**
     * Returns the text as for any record, with control characters escaped, because other clients choose the names of
     * their nodes.
     */
    @Override
    public String toString() {
        return "Participant[node=" + Printable.of(node) + ", kind=" + Printable.of(kind) + ", payload="
                + Printable.of(payload) + ", owner=" + Printable.of(owner) + ", sessionId=0x"
                + Long.toHexString(sessionId)
                + ", age=" + age + ", position=" + position + ", holding=" + holding + "]";
    }
}
