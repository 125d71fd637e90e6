// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench;

import dev.zkrecipes.bench.server.ServerProcess;
import dev.zkrecipes.bench.server.Store;
import java.util.EnumMap;
import java.util.Map;

/** The servers of a run, started when they are first asked for. Not thread-safe. */
final class Servers implements AutoCloseable {
    private final Map<Store, ServerProcess> running = new EnumMap<>(Store.class);

    ServerProcess of(Store store) {
        return running.computeIfAbsent(store, ServerProcess::start);
    }

    /** Removes old data of the servers, so that a long run does not fill the memory. */
    void tidy() {
        running.values().forEach(ServerProcess::tidy);
    }

    @Override
    public void close() {
        running.values().forEach(ServerProcess::close);
        running.clear();
    }
}
