// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("H40")
class NodeCleanerTest {
    private static final String PATH = "/locks/orders";

    private final ManualScheduler scheduler = new ManualScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler);
    private Consumer<State> session = state -> {};
    private final ZooKeeperClient client = ZooKeeperClient.builder()
            .operations(
                    states -> {
                        session = states;
                        return operations;
                    },
                    scheduler)
            .callbackExecutor(Runnable::run)
            .build();
    private final EngineClient engine = EngineClient.of(client);

    @BeforeEach
    void connect() {
        scheduler.run();
    }

    private CompletableFuture<Lease> acquire() {
        CompletableFuture<Lease> wanted = new LockInternals(client, PATH, new MutexDriver(), LockOptions.defaults())
                .threadOwned()
                .acquireAsync();
        scheduler.run();
        return wanted;
    }

    private CompletableFuture<Void> giveBack(CompletableFuture<Lease> granted) {
        CompletableFuture<Void> closed = granted.join().closeAsync();
        scheduler.run();
        return closed;
    }

    private void assertClean() {
        assertThat(operations.nodes()).isEmpty();
        assertThat(engine.cleaner().isEmpty()).isTrue();
    }

    @Test
    void deletionThatIsLost_isTriedUntilItIsConfirmed() {
        CompletableFuture<Lease> lease = acquire();
        operations.refuse(Request.DELETE, Code.CONNECTIONLOSS, Code.CONNECTIONLOSS);
        CompletableFuture<Void> closed = giveBack(lease);
        assertThat(closed).isNotDone();
        assertThat(engine.cleaner().isEmpty()).isFalse();
        scheduler.advance(Duration.ofSeconds(20));
        assertThat(closed).isCompleted();
        assertClean();
    }

    @Test
    void deletionThatWaits_isSentBeforeSomebodyQueuesOnThePath() {
        CompletableFuture<Lease> lease = acquire();
        operations.refuse(Request.DELETE, Code.CONNECTIONLOSS);
        CompletableFuture<Void> closed = giveBack(lease);
        operations.requests();
        assertThat(acquire()).isCompleted();
        assertThat(operations.requests()).startsWith(Request.DELETE, Request.CREATE, Request.LIST);
        assertThat(closed).isCompleted();
    }

    @Test
    @Tag("H47")
    void deletionThatIsRefused_isToldAndTriedOnSlowly() {
        CompletableFuture<Lease> lease = acquire();
        operations.refuse(Request.DELETE, Code.NOAUTH);
        operations.refuse(Request.MULTI, Code.NOAUTH);
        CompletableFuture<Void> closed = giveBack(lease);
        assertThat(closed)
                .failsWithin(Duration.ZERO)
                .withThrowableOfType(ExecutionException.class)
                .extracting(Throwable::getCause, InstanceOfAssertFactories.THROWABLE)
                .isExactlyInstanceOf(LockAccessException.class)
                .hasMessageContaining("refuses to delete the lock node " + PATH);
        operations.requests();
        scheduler.advance(engine.requestTimeout().minusMillis(1));
        assertThat(operations.requests()).isEmpty();
        scheduler.advance(engine.requestTimeout().multipliedBy(2).plusMillis(2));
        assertThat(operations.requests())
                .as("not plain deletes any more; a read tells whether the node is there")
                .containsExactly(Request.MULTI, Request.READ, Request.MULTI);
        assertClean();
    }

    /** Sends a create whose answer is lost, gives it up, and ends the session before it is known what became of it. */
    private void loseACreateAndItsSession() {
        operations.loseAnswerOf(Request.CREATE);
        operations.refuse(Request.LIST, Code.CONNECTIONLOSS, Code.CONNECTIONLOSS, Code.CONNECTIONLOSS);
        CompletableFuture<Lease> wanted = acquire();
        wanted.cancel(false);
        scheduler.run();
        session.accept(State.EXPIRED);
        operations.show(names -> List.of());
        scheduler.run();
        session.accept(State.CONNECTED);
    }

    @Test
    @Tag("H59")
    void nodeOfALostCreate_isLookedForUntilTheServerMustHaveEndedItsSession() {
        loseACreateAndItsSession();
        Duration end = operations.sessionTimeout().multipliedBy(3).dividedBy(2);
        scheduler.advance(end.minusMillis(10));
        assertThat(engine.cleaner().isEmpty()).isFalse();
        scheduler.advance(Duration.ofSeconds(5));
        assertThat(engine.cleaner().isEmpty()).isTrue();
        assertThat(operations.deleted()).isEmpty();
    }

    @Test
    @Tag("H59")
    void nodeOfALostCreate_thatTurnsUpLate_isDeleted() {
        loseACreateAndItsSession();
        scheduler.advance(operations.sessionTimeout());
        assertThat(operations.nodes()).hasSize(1);
        operations.show(names -> names);
        scheduler.advance(operations.sessionTimeout());
        assertThat(operations.deleted()).hasSize(1);
        assertClean();
    }

    @Test
    void deletionWithoutAConnection_waitsForOne() {
        CompletableFuture<Lease> lease = acquire();
        session.accept(State.DISCONNECTED);
        CompletableFuture<Void> closed = giveBack(lease);
        operations.requests();
        scheduler.advance(Duration.ofSeconds(10));
        assertThat(operations.requests()).isEmpty();
        assertThat(closed).isNotDone();
        session.accept(State.CONNECTED);
        scheduler.run();
        assertThat(closed).isCompleted();
        assertClean();
    }

    @Test
    void closedClient_leavesNobodyWaitingForADeletion() {
        CompletableFuture<Lease> lease = acquire();
        operations.refuse(Request.DELETE, Code.CONNECTIONLOSS);
        CompletableFuture<Void> closed = giveBack(lease);
        assertThat(closed).isNotDone();
        client.close();
        scheduler.run();
        assertThat(closed).isCompleted();
        assertThat(engine.cleaner().isEmpty()).isTrue();
    }
}
