// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.time.Duration;
import java.util.Optional;

/**
 * The death of a holder, and what followed.
 *
 * @param victim the grant of the killed worker
 * @param killedAt when
 * @param intruder a grant while the victim held and was alive; there should be none
 * @param heir the next grant
 */
record TakeOver(Grant victim, long killedAt, Optional<Grant> intruder, Optional<Grant> heir) {
    /** From the kill to the next grant. */
    Optional<Duration> took() {
        return heir.map(grant -> Duration.ofNanos(grant.nanos() - killedAt));
    }
}
