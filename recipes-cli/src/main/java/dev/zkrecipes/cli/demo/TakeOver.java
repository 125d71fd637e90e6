// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import java.time.Duration;
import java.util.Optional;

/**
 * A holder was killed; what came of it.
 *
 * @param victim the grant of the one who was killed
 * @param killedAt when
 * @param intruder who was granted while the victim held and lived; nobody should have been
 * @param heir who was granted next
 */
record TakeOver(Grant victim, long killedAt, Optional<Grant> intruder, Optional<Grant> heir) {
    /** From the kill to the next grant. */
    Optional<Duration> took() {
        return heir.map(grant -> Duration.ofNanos(grant.nanos() - killedAt));
    }
}
