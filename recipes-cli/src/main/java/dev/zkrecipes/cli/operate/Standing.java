// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.operate;

/** Whether a node holds the lock. */
enum Standing {
    HOLDS("holds"),
    WAITS("waits"),
    /** The nodes do not show it. */
    UNKNOWN("?");

    private final String shown;

    Standing(String shown) {
        this.shown = shown;
    }

    @Override
    public String toString() {
        return shown;
    }
}
