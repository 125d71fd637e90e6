// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import dev.zkrecipes.core.internal.thread.Blocking;
import dev.zkrecipes.core.internal.thread.EngineExecutor;
import dev.zkrecipes.core.internal.zk.HandleOperations;
import dev.zkrecipes.core.internal.zk.HandleStates;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import org.apache.zookeeper.ZooKeeper;

/** Lends out the engine's own port on a real handle, so that what is compared with it is what locks run on. */
final class HandlePort implements AutoCloseable {
    private final EngineExecutor engine = new EngineExecutor(true);

    /** A port on a handle that is connected; its answers and watch events come in order. */
    ZooKeeperOperations on(ZooKeeper handle, Runnable closing) {
        return new HandleOperations(
                handle,
                new HandleStates(state -> {}, engine).foundIn(State.CONNECTED),
                engine,
                Blocking::isEventThread,
                true,
                closing);
    }

    @Override
    public void close() {
        engine.close();
    }
}
