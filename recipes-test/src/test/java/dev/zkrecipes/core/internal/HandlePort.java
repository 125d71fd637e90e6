// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal;

import dev.zkrecipes.core.spi.ZooKeeperOperations;
import dev.zkrecipes.core.spi.ZooKeeperOperations.State;
import org.apache.zookeeper.ZooKeeper;

/** Lends out the engine's own port on a real handle, so that what is compared with it is what locks run on. */
public final class HandlePort implements AutoCloseable {
    private final SystemTime engine = new SystemTime();

    /** A port on a handle that is connected; its answers and watch events come in order. */
    public ZooKeeperOperations on(ZooKeeper handle, Runnable closing) {
        return new HandleOperations(handle, State.CONNECTED, engine, closing);
    }

    @Override
    public void close() {
        engine.close();
    }
}
