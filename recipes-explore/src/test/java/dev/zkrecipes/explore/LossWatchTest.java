// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mockito.ArgumentCaptor;

/** What a lease may say after its node went. */
class LossWatchTest {
    private static final long SECOND = Duration.ofSeconds(1).toNanos();
    private static final long SESSION = Schedule.SESSION.toNanos();

    private final Lease lease = mock(Lease.class);
    private final CompletableFuture<LeaseState> ended = new CompletableFuture<>();
    private final ArgumentCaptor<Runnable> listener = ArgumentCaptor.forClass(Runnable.class);
    private LossWatch watch;

    @BeforeEach
    void begin() {
        when(lease.ended()).thenReturn(ended);
        watch = new LossWatch(lease);
        verify(lease).onLost(listener.capture());
    }

    private void tell() {
        ended.complete(LeaseState.LOST);
        listener.getValue().run();
    }

    private Optional<String> rule(long now) {
        return watch.onNodeGone(false, now).map(BrokenPromise::rule);
    }

    @Test
    void lossThatIsToldOnce_isRight() {
        assertThat(rule(0)).isEmpty();
        tell();
        assertThat(rule(SECOND)).isEmpty();
        assertThat(rule(10 * SESSION)).isEmpty();
    }

    @Test
    void lossThatIsToldTwice_breaksAPromise_atOnce() {
        tell();
        listener.getValue().run();
        assertThat(rule(0)).contains("a loss is told once");
    }

    @Test
    void lossThatIsNotTold_breaksAPromise_afterOneAndAHalfTimeouts() {
        assertThat(rule(0)).isEmpty();
        assertThat(rule(SESSION * 3 / 2)).isEmpty();
        assertThat(rule(SESSION * 3 / 2 + 1)).contains("a loss is told once");
    }

    @Test
    void lossThatOnlyTheFutureKnows_isNotTold() {
        assertThat(rule(0)).isEmpty();
        ended.complete(LeaseState.LOST);
        assertThat(rule(2 * SESSION)).contains("a loss is told once");
    }

    @Test
    void endThatIsNoLoss_isNotTold() {
        assertThat(rule(0)).isEmpty();
        ended.complete(LeaseState.RELEASED);
        listener.getValue().run();
        assertThat(rule(2 * SESSION)).contains("a loss is told once");
    }

    @Test
    void validityWithoutANode_breaksAPromise_afterTheTimeout_unlessTheProcessStoodStill() {
        when(lease.isValid()).thenReturn(true);
        assertThat(rule(0)).isEmpty();
        assertThat(watch.onNodeGone(true, SESSION)).isEmpty();
        assertThat(rule(2 * SESSION)).isEmpty();
        assertThat(rule(2 * SESSION + 1)).contains("a stale lease is not valid");
    }
}
