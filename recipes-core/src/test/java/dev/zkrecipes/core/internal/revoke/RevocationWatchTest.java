// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.revoke;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.acquire.Acquisition;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.node.HeldNodes;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.WatchRegistry;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.PortClientBuilder;
import java.util.List;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.Test;

class RevocationWatchTest {
    private final ManualScheduler scheduler = new ManualScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler);
    private final EngineClient client = EngineClient.of(PortClientBuilder.on(states -> operations, scheduler)
            .callbackExecutor(Runnable::run)
            .build());
    private final HeldNode held = acquire();
    private final WatchRegistry watches = held.session().watches();

    private HeldNode acquire() {
        LockSpec spec =
                new LockSpec(ZooDefs.Ids.OPEN_ACL_UNSAFE, "/locks/orders", new MutexDriver(), LockOptions.defaults());
        Acquisition wanted = client.acquisitions().of(LockGroup.of(spec), Acquisition.Mode.QUEUE, true);
        wanted.launch();
        scheduler.run();
        return wanted.outcome().join().orElseThrow().get(0);
    }

    /** A thread that releases its hold inside the process passes the node on by itself, beside the engine. */
    @Test
    void watchOfANodeThatAnotherThreadPassesOn_endsOnTheEnginesThread() {
        RevocationWatch watch = new RevocationWatch(held, requests -> {});
        watch.begin();
        scheduler.run();
        assertThat(watches.isEmpty()).isFalse();

        HeldNodes.release(List.of(held));
        watch.end();
        held.gone().complete(null); // by that thread
        assertThat(watches.isEmpty()).isFalse();
        scheduler.run();
        assertThat(watches.isEmpty()).isTrue();
    }
}
