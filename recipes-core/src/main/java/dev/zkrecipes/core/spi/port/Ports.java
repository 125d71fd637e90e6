// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi.port;

import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.zk.HandleKind;
import java.util.Objects;

/** Supplies other implementations of the engine's two ports, such as a simulated server and clock. */
public final class Ports {
    private Ports() {}

    /**
     * Returns a builder of a client on two ports. All its callbacks, including those for losses, run on the
     * {@linkplain ZooKeeperClientBuilder#callbackExecutor callback executor}, if one is set: a simulation has no
     * threads but its own.
     *
     * @param factory opens one session per call
     * @param scheduler the engine's thread and clock; closed with the client
     * @return a builder, for the other settings
     */
    public static ZooKeeperClientBuilder clientBuilder(ZooKeeperOperations.Factory factory, EngineScheduler scheduler) {
        return EngineClient.builder(new HandleKind.Simulated(
                Objects.requireNonNull(factory, "factory"), Objects.requireNonNull(scheduler, "scheduler")));
    }
}
