// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.RevocationRequest;
import dev.zkrecipes.core.internal.ClientScene;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.reads.WatchRegistry;
import dev.zkrecipes.core.internal.thread.Callbacks;
import dev.zkrecipes.core.internal.wire.NodeId;
import dev.zkrecipes.core.internal.wire.RevocationMarks;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("H60")
class RevocationListenersTest extends ClientScene {
    private final HeldNode held =
            (HeldNode) ((Hold) asked(lock("/locks/orders")).join()).grant().first();
    private final RevocationListeners listeners = new RevocationListeners(
            Grant.of(held), () -> true, EngineClient.of(client).callbacks());
    private final List<RevocationRequest> told = new ArrayList<>();

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

    /** It would not hear of that one later: written once more, it is told to nobody. */
    @Test
    void laterListener_hearsOfARequestThatWasOverwritten() {
        RevocationRequest first = request();
        RevocationRequest second = request();
        listeners.add(request -> {});
        show(first);
        show(second);
        listeners.add(told::add);
        scheduler.run();
        show(first);
        assertThat(told).extracting(RevocationRequest::id).containsExactly(first.id(), second.id());
    }

    @Test
    void requestWhoseCallbackComesToRunWhenTheHoldHasEnded_isNotTold() {
        List<Runnable> waiting = new ArrayList<>();
        AtomicBoolean stands = new AtomicBoolean(true);
        new RevocationListeners(Grant.of(held), stands::get, Callbacks.on(waiting::add, null, scheduler))
                .add(told::add);
        show(request());
        stands.set(false);
        assertThat(waiting).hasSize(1).allSatisfy(Runnable::run);
        assertThat(told).isEmpty();
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

    @Test
    void watchOfANodeThatIsReleased_staysUntilTheNodeIsGone() {
        WatchRegistry watches = held.session().watches();
        listeners.add(told::add);
        scheduler.run();
        assertThat(watches.isEmpty()).isFalse();

        Grant.of(held).release();
        listeners.end();
        assertThat(watches.isEmpty()).isFalse();
        scheduler.run();
        assertThat(operations.nodes()).isEmpty();
        assertThat(operations.dropped()).as("no request for it").isEmpty();
        assertThat(watches.isEmpty()).isTrue();
    }
}
