// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.acquire.AcquireLoop;
import dev.zkrecipes.core.internal.acquire.Acquisition;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.Ports;
import org.apache.zookeeper.ZooDefs;

/** A mutex that is held by a client on a scripted port. */
abstract class HeldScene {
    final ManualScheduler scheduler = new ManualScheduler();
    final ScriptedOperations operations = new ScriptedOperations(scheduler);
    final EngineClient client = EngineClient.of(Ports.clientBuilder(states -> operations, scheduler)
            .callbackExecutor(Runnable::run)
            .build());
    final HeldNode held = acquire();

    private HeldNode acquire() {
        LockSpec spec =
                new LockSpec(ZooDefs.Ids.OPEN_ACL_UNSAFE, "/locks/orders", new MutexDriver(), LockOptions.defaults());
        Acquisition wanted = new AcquireLoop(client.requests(), LockGroup.of(spec), Acquisition.Mode.QUEUE);
        wanted.launch();
        scheduler.run();
        return (HeldNode) wanted.outcome().join().orElseThrow().first();
    }
}
