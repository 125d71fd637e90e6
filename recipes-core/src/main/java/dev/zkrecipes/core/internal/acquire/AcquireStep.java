// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

/** The states of an {@link AcquireLoop}, which shows how they follow each other. */
enum AcquireStep {
    SEEKING,
    PEEKING,
    ENQUEUEING,
    MAKING_PATH,
    SETTLING,
    ADOPTING,
    CHECKING_ACL,
    WAITING,
    LISTING,
    PROVING,
    RESETTING,
    PAUSED,
    GRANTED,
    ENDED
}
