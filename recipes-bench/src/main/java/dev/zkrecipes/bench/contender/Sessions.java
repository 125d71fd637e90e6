// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

/** What the contenders have in common. */
final class Sessions {
    /** Long enough that nothing but work is sent in a turn. */
    static final int TIMEOUT_MILLIS = 60_000;

    private Sessions() {}
}
