// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.measure;

import dev.zkrecipes.bench.server.Store;

/**
 * Where a case is measured.
 *
 * @param roundTripMillis the delay added to each round trip; 0 for the plain loopback interface
 * @param store where the server keeps its data
 */
public record Setting(int roundTripMillis, Store store) {
    /** A server that keeps its data in memory. */
    public static Setting memory(int roundTripMillis) {
        return new Setting(roundTripMillis, Store.MEMORY);
    }

    /** A server that forces each write to disk. */
    public static Setting disk() {
        return new Setting(0, Store.DISK);
    }

    @Override
    public String toString() {
        return roundTripMillis + " ms" + (store == Store.DISK ? ", disk" : "");
    }
}
