// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.internal.queue.LockSpec;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.PortClientBuilder;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Which deletions a new request may hurry: those that could be sent now. */
@Tag("H78")
class DeletionQueueTest {
    private final ManualScheduler scheduler = new ManualScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler);
    private Consumer<State> events = state -> {};
    private final ZooKeeperClient client = PortClientBuilder.on(
                    states -> {
                        events = states;
                        return operations;
                    },
                    scheduler)
            .callbackExecutor(Runnable::run)
            .build();
    private final EngineClient engine = EngineClient.of(client);
    private final DeletionQueue queue = new DeletionQueue(engine.sessions(), () -> {});
    private final List<String> told = new ArrayList<>();
    private final DeletionQueue.Entry entry = new DeletionQueue.Entry() {
        @Override
        public OwnNode node() {
            Session session = engine.livingSessions().get(0);
            LockSpec spec = new LockSpec(
                    engine.settings().paths().acl("/"), "/locks/orders", new MutexDriver(), LockOptions.defaults());
            return new OwnNode(session, spec, scheduler.random());
        }

        @Override
        public void begin() {
            told.add("begin");
        }

        @Override
        public void send() {
            told.add("send");
            queue.remove(this);
        }
    };

    @BeforeEach
    void connect() {
        scheduler.run();
    }

    @Test
    void deletionWithoutAConnection_cannotBeHurried_andBeginsAgainWithIt() {
        events.accept(State.DISCONNECTED);
        scheduler.run();
        assertThat(queue.sessionFor(entry)).isNull();
        assertThat(queue.isPutOff(entry)).isFalse();
        assertThat(queue.hasPutOff()).isFalse();
        queue.wake();
        assertThat(told).containsExactly("begin");
    }

    @Test
    void deletionThatRests_orWaitsForRoom_canBeHurried() {
        queue.rests(entry);
        assertThat(queue.isPutOff(entry)).isTrue();
        assertThat(queue.hasPutOff()).isTrue();
        queue.remove(entry);
        assertThat(queue.hasPutOff()).isFalse();
        queue.add(entry);
        assertThat(queue.isPutOff(entry)).isTrue();
        assertThat(queue.hasPutOff()).isTrue();
        queue.pump();
        assertThat(told).containsExactly("send");
        assertThat(queue.hasPutOff()).isFalse();
    }
}
