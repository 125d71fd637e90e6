// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.sim;

import dev.zkrecipes.core.internal.thread.EngineThread;
import dev.zkrecipes.core.internal.zk.HandleOperations;
import dev.zkrecipes.core.internal.zk.HandleStates;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ForwardingOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.List;
import java.util.function.Consumer;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;

/** Lends out the engine's own port on a real handle, so that what is compared with it is what locks run on. */
final class HandlePort implements AutoCloseable {
    private final EngineThread engine = new EngineThread();

    /** A port on a handle that is connected; its answers and watch events come in order. */
    ZooKeeperOperations on(ZooKeeper handle, Runnable closing) {
        return new ReadBehindCreate(new HandleOperations(
                handle,
                new HandleStates(state -> {}, engine).foundIn(State.CONNECTED),
                engine,
                engine::execute,
                true,
                closing));
    }

    /** Sends a read behind each create, as the engine sends a list: the answer to the create alone does not wake its thread. */
    private record ReadBehindCreate(ZooKeeperOperations inner) implements ForwardingOperations {
        @Override
        public void createEphemeralSequential(
                String prefix, byte[] data, List<ACL> acl, Consumer<Answer<Created>> reply) {
            inner.createEphemeralSequential(prefix, data, acl, reply);
            inner.acl("/", answer -> {});
        }
    }

    @Override
    public void close() {
        engine.close();
    }
}
