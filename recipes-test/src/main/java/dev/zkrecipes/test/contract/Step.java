// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.RequestType;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * One of the requests of which an acquire consists: the {@code nth} of its type. What they are differs from recipe to
 * recipe, so they are found out.
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

    /** How many writes there are among these requests. */
    static long writes(RequestCounts requests) {
        return WRITES.stream().mapToLong(requests::of).sum();
    }

    /** What the client under test sends when it tries for the lock, which is free, and gets it. */
    static List<Step> ofATry(Contenders contenders, Scene scene) {
        RequestCounts before = contenders.proxy.requestsSeen();
        Lease lease = scene.lock.tryAcquire().orElseThrow();
        RequestCounts sent = contenders.proxy.requestsSeen().minus(before);
        lease.close();
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
