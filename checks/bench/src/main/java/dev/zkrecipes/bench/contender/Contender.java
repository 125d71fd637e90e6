// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import java.util.Locale;

/** A contender. */
public enum Contender {
    /** This library. */
    OURS,
    /** Apache Curator. */
    CURATOR,
    /** ZooKeeper's client by itself: the cost of the network and the server, or the textbook recipe. */
    BARE;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
