// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.waiting;

import java.util.Locale;

/** How a waiter learns that its turn has come. */
public enum Way {
    /** It lists the queue again after some time. */
    POLLING,
    /** It watches the list, as all others do: every change wakes all waiters. */
    PARENT,
    /** It watches the node right in front of its own, as nobody else does. */
    PREDECESSOR;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
