// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.scale;

import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.server.Store;

/**
 * What stays the same from turn to turn.
 *
 * @param servers how many; 1 or 3
 * @param store where they keep their logs
 * @param contender whose locks are taken
 */
record Series(int servers, Store store, Contender contender) {
    String place() {
        return servers + (servers == 1 ? " server" : " servers") + ", log "
                + (store == Store.DISK ? "on disk" : "in memory");
    }

    String name() {
        return switch (contender) {
            case OURS -> "zkrecipes";
            case CURATOR -> "Curator";
            case BARE -> "bare";
        };
    }

    @Override
    public String toString() {
        return place() + ", " + name();
    }
}
