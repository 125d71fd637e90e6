// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * One of the requests that an acquire sends: the {@code nth} request of its type. A trial run records them, because
 * they differ from recipe to recipe.
 */
record Step(RequestType type, int nth) {
    private static final Set<RequestType> WRITES = EnumSet.of(
            RequestType.CREATE,
            RequestType.CREATE2,
            RequestType.CREATE_CONTAINER,
            RequestType.CREATE_TTL,
            RequestType.DELETE,
            RequestType.SET_DATA,
            RequestType.MULTI);

    /** Returns the number of writes among these requests. */
    static long writes(RequestCounts requests) {
        return WRITES.stream().mapToLong(requests::of).sum();
    }

    /** Returns the requests that a client sends when it tries to acquire a free lock and gets it. */
    static List<Step> ofATry(EmbeddedZooKeeper server, Recipe recipe) throws InterruptedException {
        try (Contenders quiet = Contenders.openQuiet(server, recipe)) {
            Scene scene = Scene.of(quiet);
            RequestCounts before = quiet.proxy.requestsSeen();
            Lease lease = scene.lock.tryAcquire().orElseThrow();
            RequestCounts sent = quiet.proxy.requestsSeen().minus(before);
            lease.close();
            return steps(sent);
        }
    }

    private static List<Step> steps(RequestCounts sent) {
        List<Step> steps = new ArrayList<>();
        for (RequestType type : RequestType.values()) {
            for (int nth = 1; nth <= sent.of(type) && !type.isSessionKeeping(); nth++) {
                steps.add(new Step(type, nth));
            }
        }
        return steps;
    }

    boolean isWrite() {
        return WRITES.contains(type);
    }
}
