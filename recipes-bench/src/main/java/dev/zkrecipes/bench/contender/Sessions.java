// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

/** What all contenders share. */
final class Sessions {
    /** Long enough that a turn sends only work, and no pings. */
    static final int TIMEOUT_MILLIS = 60_000;

    private Sessions() {}
}
