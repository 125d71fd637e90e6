// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import dev.zkrecipes.core.internal.wire.Printable;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Requests that wait for each other in a circle: each waits for what the next one holds, and the last one for what the
 * first one holds. None of them is ever granted unless a time limit, or somebody from outside, ends one of them.
 *
 * <p>This description contains what the nodes of the locks show. A thread names the nodes that it holds in the data of
 * the node with which it waits: up to eight nodes, and only those that no other thread may release. A lease that
 * another thread may close, such as a permit of a semaphore, or that belongs to no thread, is not named. A request that
 * waits inside its process, for a lock that is handed over there, has no node.
 *
 * @param isProven whether one transaction found all of the nodes, so that the requests waited for each other at one
 *     moment. Otherwise the deadlock is only suspected: one request waits for a lock whose rule is not known here, such
 *     as one of a custom driver, and may be granted before the node that another member holds is deleted
 * @param members the waiting requests, in the order of the circle, beginning with the one that found the deadlock
 */
public record Deadlock(boolean isProven, List<Member> members) {
    /**
     * Creates a description.
     *
     * @param isProven whether all of the deadlock was seen at one moment
     * @param members who waits
     */
    public Deadlock {
        members = List.copyOf(Objects.requireNonNull(members, "members"));
    }

    /**
     * One request of the circle.
     *
     * @param owner the owner label of its client
     * @param node the path of the node with which it waits
     * @param holds the path of the node that its thread holds, and that another member waits for; empty if its place in
     *     the queue is what another member waits for
     * @param age how long the node with which it waits has existed, by the clocks of the servers and of this machine
     */
    public record Member(String owner, String node, Optional<String> holds, Duration age) {
        /**
         * Creates a description.
         *
         * @param owner the owner label
         * @param node the path of the node that waits
         * @param holds the path of the held node
         * @param age the age of the node that waits
         */
        public Member {
            Objects.requireNonNull(owner, "owner");
            Objects.requireNonNull(node, "node");
            Objects.requireNonNull(holds, "holds");
            Objects.requireNonNull(age, "age");
        }

        /** Returns printable text: names of nodes, which anybody may have chosen, are escaped. */
        @Override
        public String toString() {
            return owner + " waits with " + Printable.of(node) + " (" + age.toSeconds() + " s)"
                    + holds.map(held -> " and holds " + Printable.of(held)).orElse("");
        }
    }

    @Override
    public String toString() {
        return members.stream().map(Member::toString).collect(Collectors.joining("; "));
    }
}
