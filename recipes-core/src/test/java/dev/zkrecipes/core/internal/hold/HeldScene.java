// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ClientScene;
import dev.zkrecipes.core.internal.acquire.AcquireLoop;
import dev.zkrecipes.core.internal.acquire.Acquisition;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.spi.MutexDriver;
import org.apache.zookeeper.ZooDefs;

/** A mutex that is held by a client of a scripted server. */
abstract class HeldScene extends ClientScene {
    final EngineClient engine = EngineClient.of(client);
    final HeldNode held = acquire();

    private HeldNode acquire() {
        LockSpec spec =
                new LockSpec(ZooDefs.Ids.OPEN_ACL_UNSAFE, "/locks/orders", new MutexDriver(), LockOptions.defaults());
        Acquisition wanted = new AcquireLoop(engine.requests(), LockGroup.of(spec), Acquisition.Mode.QUEUE);
        wanted.launch();
        scheduler.run();
        return (HeldNode) wanted.outcome().join().orElseThrow().first();
    }
}
