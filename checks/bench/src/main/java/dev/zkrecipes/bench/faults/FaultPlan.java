// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * A random sequence of faults. The same seed gives the same sequence; when each fault happens depends on the machine,
 * too.
 */
final class FaultPlan {
    /** The kinds of faults. The weight of a kind says how often it occurs in comparison with the others. */
    enum Kind {
        STOP_CLIENT(4, "a client is stopped (SIGSTOP)"),
        KILL_CLIENT(2, "a client is killed, and another one started"),
        STALL_SERVER(2, "a server stands still (SIGSTOP)"),
        KILL_SERVER(2, "a server is killed, and started again"),
        CUT_SERVER(3, "a server is cut off from its clients"),
        CUT_FOLLOWER(2, "a follower is cut off from its leader"),
        CUT_ALL(2, "all clients are cut off");

        private final int weight;
        private final String description;

        Kind(int weight, String description) {
            this.weight = weight;
            this.description = description;
        }

        String description() {
            return description;
        }
    }

    /**
     * One fault.
     *
     * @param target the number of the client or server that is hit, modulo how many of them there are
     * @param lasts how long the fault lasts; has no meaning for a client that is killed, because another one is started
     *     at once
     * @param pause what passes before the fault
     */
    record Step(Kind kind, int target, Duration lasts, Duration pause) {}

    private static final int LEAST_PERCENT = 20;
    private static final int MOST_PERCENT = 200;
    private static final int PAUSE_MILLIS = 3_000;

    private final Random random;
    private final List<Kind> kinds = new ArrayList<>();

    FaultPlan(long seed) {
        random = new Random(seed);
        for (Kind kind : Kind.values()) {
            kinds.addAll(Collections.nCopies(kind.weight, kind));
        }
    }

    /** Returns the next fault. It lasts between 20 % and 200 % of the session time-out. */
    Step next() {
        Kind kind = kinds.get(random.nextInt(kinds.size()));
        int target = random.nextInt(3 * Arena.CLIENTS);
        Duration lasts = FaultClient.SESSION
                .multipliedBy(LEAST_PERCENT + random.nextInt(MOST_PERCENT - LEAST_PERCENT))
                .dividedBy(100);
        return new Step(kind, target, lasts, Duration.ofMillis(500 + random.nextInt(PAUSE_MILLIS)));
    }
}
