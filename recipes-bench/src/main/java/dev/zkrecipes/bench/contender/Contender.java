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
    /** ZooKeeper's client by itself: what the network and the server cost, or the recipe of the textbook. */
    BARE;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
