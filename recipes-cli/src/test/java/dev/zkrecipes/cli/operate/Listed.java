// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

import dev.zkrecipes.cli.operate.Place.Origin;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Nodes as if they had been read. */
final class Listed {
    static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");
    static final String OUR_ID = "0123456789abcdef0123456789abcdef";
    static final String CURATOR_ID = "_c_01234567-89ab-cdef-0123-456789abcdef";

    private Listed() {}

    /** One that is ours, five seconds old, of session 0x1. */
    static Node ours(String kindAndNumber) {
        return node(OUR_ID + "-" + kindAndNumber, 1);
    }

    static Node curators(String kindAndNumber, long session) {
        return node(CURATOR_ID + "-" + kindAndNumber, session);
    }

    static Node node(String name, long session) {
        return node(name, session, new NodeData("owner " + session, List.of()));
    }

    static Node node(String name, long session, NodeData data) {
        Origin origin = new Origin(true, session, NOW.minusSeconds(5), 77, 0);
        return new Node(Kind.read(name).orElseThrow(), data, origin, false);
    }

    static Queue queue(String... ours) {
        return queue(Optional.empty(), ours);
    }

    static Queue queue(Optional<Limit> limit, String... ours) {
        return new Queue("/locks/x", Stream.of(ours).map(Listed::ours).toList(), limit);
    }

    /** How the nodes stand, in order: h, w and ?. */
    static String standings(LockView lock) {
        StringBuilder all = new StringBuilder();
        lock.places().forEach(place -> all.append(place.standing().toString().charAt(0)));
        return all.toString();
    }
}
