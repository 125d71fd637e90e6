// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.InstanceOfAssertFactories.THROWABLE;

import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockObserver;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is current when an observation starts, which is what a tracer takes for the parent. */
@Timeout(600)
class LockObservationsTest {
    private final ObservationRegistry registry = ObservationRegistry.create();
    private final LockObservations observations = new LockObservations(registry);
    private final Tracer tracer = new Tracer();

    LockObservationsTest() {
        registry.observationConfig().observationHandler(tracer);
    }

    private final class Tracer implements ObservationHandler<Observation.Context> {
        private final List<String> started = new ArrayList<>();
        private final List<Throwable> errors = new ArrayList<>();
        private int openScopes;
        private boolean isBroken;

        @Override
        public void onStart(Observation.Context context) {
            if (context.getName().startsWith("zkrecipes.")) {
                started.add(context.getName() + " in " + current());
            }
            if (isBroken) {
                throw new IllegalStateException("a handler that fails");
            }
        }

        @Override
        public void onError(Observation.Context context) {
            errors.add(context.getError());
        }

        @Override
        public void onScopeOpened(Observation.Context context) {
            openScopes++;
        }

        @Override
        public void onScopeClosed(Observation.Context context) {
            openScopes--;
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return true;
        }
    }

    private String current() {
        Observation current = registry.getCurrentObservation();
        return current == null ? "nothing" : current.getContextView().getName();
    }

    private LockObserver.Progress ask() {
        return observations.onWaiting(new LockObserver.Request("/locks/orders", Optional.of("orders"), "lock-"));
    }

    private void within(String name, Runnable work) {
        Observation observation = Observation.start(name, registry);
        observation.scoped(work);
        observation.stop();
    }

    /** Runs on another thread, as a grant does that nobody waits for, within an observation that is not of the request. */
    private void elsewhere(Runnable work) {
        CompletableFuture.runAsync(
                        () -> within("something else", () -> {
                            work.run();
                            assertThat(current()).isEqualTo("something else");
                        }),
                        task -> new Thread(task).start())
                .join();
    }

    @Test
    void holdThatStartsOnAnotherThread_startsWithinTheCallersObservation() {
        within("request", () -> {
            LockObserver.Progress asked = ask();
            elsewhere(() -> asked.onGranted(Duration.ZERO));
        });
        assertThat(tracer.started).containsExactly("zkrecipes.acquire in request", "zkrecipes.hold in request");
        assertThat(tracer.openScopes).isZero();
    }

    /** What was asked for in a callback may be granted in a later one on the same thread. */
    @Test
    void holdThatStartsLaterOnTheSameThread_startsWithinTheCallersObservation() {
        List<LockObserver.Progress> asked = new ArrayList<>();
        within("request", () -> asked.add(ask()));
        within("something else", () -> asked.get(0).onGranted(Duration.ZERO));
        assertThat(tracer.started).containsExactly("zkrecipes.acquire in request", "zkrecipes.hold in request");
        assertThat(tracer.openScopes).isZero();
    }

    @Test
    void holdOfARequestWithinNothing_startsWithinNothing() {
        LockObserver.Progress asked = ask();
        elsewhere(() -> asked.onGranted(Duration.ZERO));
        assertThat(tracer.started)
                .containsExactly("zkrecipes.acquire in nothing", "zkrecipes.hold in null"); // Micrometer's name for it
        assertThat(tracer.openScopes).isZero();
    }

    /** A tracer shows it as failed; a request that times out is none. */
    @Test
    void requestThatFails_hasItsError_andALostHoldToo() {
        IllegalStateException error = new IllegalStateException("no connection");
        ask().onFailed(Duration.ZERO, error);
        assertThat(tracer.errors).containsExactly(error);
        ask().onAbandoned(Duration.ZERO, LockObserver.Ending.TIMED_OUT);
        assertThat(tracer.errors).hasSize(1);
        LockObserver.Progress lost = ask();
        lost.onGranted(Duration.ZERO);
        lost.onLost(Duration.ZERO, "its node was deleted");
        assertThat(tracer.errors)
                .hasSize(2)
                .last(THROWABLE)
                .isInstanceOf(LockLostException.class)
                .hasMessage("its node was deleted");
    }

    @Test
    void handlerThatFails_leavesNoScopeOpen() {
        within("request", () -> {
            LockObserver.Progress asked = ask();
            elsewhere(() -> {
                tracer.isBroken = true;
                assertThatIllegalStateException().isThrownBy(() -> asked.onGranted(Duration.ZERO));
                tracer.isBroken = false;
            });
        });
        assertThat(tracer.openScopes).isZero();
    }
}
