// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * A request to give a lock back, as its holder sees it: see {@link Lease#onRevocationRequested}.
 *
 * @param id unique id of this request; the same for all nodes of one call of {@link Revoker}
 * @param requester the owner label of the client that asks, or {@code "unknown"} if the request carries none, like
 *     those of other libraries
 * @param grace how long after the request it may break the lease; empty if it never does
 */
public record RevocationRequest(String id, String requester, Optional<Duration> grace) {

    /**
     * Creates a request.
     *
     * @param id unique id of this request
     * @param requester the owner label of the client that asks
     * @param grace how long after the request it may break the lease; empty if it never does
     */
    public RevocationRequest {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(requester, "requester");
        Objects.requireNonNull(grace, "grace");
    }
}
