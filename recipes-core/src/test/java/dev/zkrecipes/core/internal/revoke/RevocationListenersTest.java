// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.revoke;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.acquire.Acquisition;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.node.HeldNode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.wire.NodeId;
import dev.zkrecipes.core.internal.wire.RevocationMarks;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.PortClientBuilder;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("H60")
class RevocationListenersTest {
    private final ManualScheduler scheduler = new ManualScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler);
    private final EngineClient client = EngineClient.of(PortClientBuilder.on(states -> operations, scheduler)
            .callbackExecutor(Runnable::run)
            .build());
    private final HeldNode held = acquire();
    private final RevocationListeners listeners =
            new RevocationListeners(List.of(held), () -> true, client.callbacks());
    private final List<RevocationRequest> told = new ArrayList<>();

    private HeldNode acquire() {
        LockSpec spec =
                new LockSpec(ZooDefs.Ids.OPEN_ACL_UNSAFE, "/locks/orders", new MutexDriver(), LockOptions.defaults());
        Acquisition wanted = client.acquisitions().of(LockGroup.of(spec), Acquisition.Mode.QUEUE, true);
        wanted.launch();
        scheduler.run();
        return wanted.outcome().join().orElseThrow().get(0);
    }

    private RevocationRequest request() {
        return new RevocationRequest(NodeId.next(scheduler.random()), "a process", Optional.empty());
    }

    private void show(RevocationRequest request) {
        Content before = new Content("label".getBytes(UTF_8), new Stat());
        operations.change(
                held.node().name(), RevocationMarks.with(request, held.node().name(), before));
        scheduler.run();
    }

    /** As when somebody else overwrites the data before the one that asks has read the answer to its write. */
    @Test
    void requestThatIsWrittenOnceMore_isToldOnce() {
        RevocationRequest first = request();
        RevocationRequest second = request();
        listeners.add(told::add);
        show(first);
        assertThat(told).hasSize(1);
        show(second);
        assertThat(told).hasSize(2);
        show(first);
        assertThat(told).extracting(RevocationRequest::id).containsExactly(first.id(), second.id());
    }

    @Test
    void requestsOfLongAgo_areForgotten() {
        RevocationRequest first = request();
        listeners.add(told::add);
        show(first);
        for (int i = 0; i < 1_100; i++) {
            show(request());
        }
        assertThat(told).hasSize(1_101);
        show(first);
        assertThat(told).hasSize(1_102);
    }
}
