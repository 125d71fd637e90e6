// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNoException;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.port.Ports;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a wait that gets long costs, and who is told. */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SlowWaitsTest {
    private static final String HOLDER = "0123456789abcdef0123456789abcdef-lock-0000000000";

    private final WaitingScheduler scheduler = new WaitingScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler.engine);
    private final List<String> told = new ArrayList<>();
    private final List<Consumer<State>> sessions = new ArrayList<>();
    private final ZooKeeperClient client = Ports.clientBuilder(
                    states -> {
                        sessions.add(states);
                        return operations;
                    },
                    scheduler)
            .callbackExecutor(Runnable::run)
            .slowAfter(Duration.ofSeconds(10))
            .observer(request -> new LockObserver.Progress() {
                @Override
                public void onSlow(Duration waited) {
                    told.add(request.path() + " after " + waited.toSeconds());
                }
            })
            .build();

    @CanIgnoreReturnValue
    private CompletableFuture<Lease> waiting(String path, String nodeName) {
        CompletableFuture<Lease> asked = new LockInternals(
                        client, path, new TestDriver(nodeName), LockOptions.defaults())
                .unowned()
                .acquireAsync();
        scheduler.engine.run();
        return asked;
    }

    /** The questions for the queue and its holder that are sent in this time. */
    private List<Request> asked(Duration time) {
        operations.requests();
        scheduler.engine.advance(time);
        return operations.requests().stream()
                .filter(request -> request == Request.LIST || request == Request.READ)
                .toList();
    }

    @Test
    void wait_asksNothingUntilItIsSlow_andThenOnceAMinuteForEachLock() {
        operations.add(HOLDER);
        for (int i = 0; i < 5; i++) {
            waiting("/locks/orders", "lock-");
        }
        assertThat(asked(Duration.ofSeconds(9))).isEmpty();
        assertThat(asked(Duration.ofSeconds(3))).containsExactly(Request.LIST, Request.READ);
        assertThat(asked(Duration.ofSeconds(55))).isEmpty();
        assertThat(asked(Duration.ofSeconds(5))).containsExactly(Request.LIST, Request.READ);
        waiting("/locks/others", "lock-");
        assertThat(asked(Duration.ofSeconds(12))).containsExactly(Request.LIST, Request.READ);
    }

    @Test
    void observers_areToldOnceOfEachRequest_thatStillWaits() {
        operations.add(HOLDER);
        CompletableFuture<Lease> left = waiting("/locks/orders", "lock-");
        waiting("/locks/orders", "lock-");
        scheduler.engine.advance(Duration.ofSeconds(5));
        left.cancel(false);
        waiting("/locks/others", "lock-");
        scheduler.engine.advance(Duration.ofMinutes(5));
        assertThat(told).containsExactly("/locks/orders after 10", "/locks/others after 10");
    }

    @Test
    void nothing_isLookedAtWhenNobodyWaits() {
        CompletableFuture<Lease> granted = waiting("/locks/orders", "lock-");
        assertThat(granted).isCompleted();
        scheduler.engine.advance(Duration.ofSeconds(2));
        long looks = looks();
        scheduler.engine.advance(Duration.ofSeconds(20));
        assertThat(looks()).isEqualTo(looks);
        assertThat(told).isEmpty();
    }

    private long looks() {
        return scheduler.engine.delays().stream()
                .filter(SlowWaits.PERIOD::equals)
                .count();
    }

    @Test
    void withoutAConnection_nobodyIsAsked_andTheQuestionComesWithIt() {
        operations.add(HOLDER);
        waiting("/locks/orders", "lock-");
        sessions.get(0).accept(State.DISCONNECTED);
        assertThat(asked(Duration.ofSeconds(15))).isEmpty();
        assertThat(told).hasSize(1);
        sessions.get(0).accept(State.CONNECTED);
        scheduler.engine.run(); // what a reconnection takes anyway
        assertThat(asked(Duration.ofSeconds(2))).containsExactly(Request.LIST, Request.READ);
    }

    /** It waits for as long as another leads. */
    @Test
    void candidateForLeadership_isNotSlow() {
        operations.add("0123456789abcdef0123456789abcdef-latch-0000000000");
        waiting("/leader", "latch-");
        assertThat(asked(Duration.ofMinutes(5))).isEmpty();
        assertThat(told).isEmpty();
    }

    @Test
    void timeThatIsNone_isRejected() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ZooKeeperClient.builder().slowAfter(Duration.ZERO))
                .withMessage("slowAfter is PT0S, must be positive");
    }

    @Test
    void timeOfCenturies_isAccepted() {
        assertThatNoException().isThrownBy(() -> new SlowWaits(Duration.ofDays(365 * 300)));
    }
}
