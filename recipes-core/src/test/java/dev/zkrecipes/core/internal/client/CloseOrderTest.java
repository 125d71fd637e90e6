// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ClientScene;
import dev.zkrecipes.core.internal.PrintedWhile;
import dev.zkrecipes.core.spi.LockInternals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What stands on a client ends before its leases do. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("H153")
class CloseOrderTest extends ClientScene {
    private static final Duration LIMIT = Duration.ofSeconds(3);

    private final LockInternals internals = internals("/locks/leader", LockOptions.defaults());
    private final InterProcessLock lock = internals.threadOwned();
    private final List<String> order = new ArrayList<>();

    CloseOrderTest() {
        super(builder -> builder.closeTimeout(LIMIT));
    }

    private CompletableFuture<Void> stand() {
        CompletableFuture<Void> end = new CompletableFuture<>();
        internals.endBeforeClient(() -> {
            order.add("asked to end");
            return end;
        });
        return end;
    }

    private boolean isClosed() {
        return client.connectionState() == ConnectionState.CLOSED;
    }

    @Test
    void whatStandsOnTheClient_endsFirst_whileLeasesStandAndRequestsAreAnswered() throws InterruptedException {
        Lease lease = lock.acquire();
        lease.onLost(() -> order.add("lost"));
        CompletableFuture<Void> end = stand();
        scheduler.inTheWait = () -> {
            scheduler.inTheWait = () -> {};
            assertThat(lease.isValid()).isTrue();
            assertThatCode(() -> lease.verify()).doesNotThrowAnyException();
            var unused = lease.closeAsync(); // as an election does
            scheduler.run();
            assertThat(operations.nodes()).isEmpty();
            order.add("ended");
            end.complete(null);
            scheduler.run();
        };
        client.close();
        assertThat(order).containsExactly("asked to end", "ended");
        assertThat(lease.state()).isEqualTo(LeaseState.RELEASED);
        assertThat(isClosed()).isTrue();
    }

    @Test
    void leasesAreLost_onlyAfterTheEnd() throws InterruptedException {
        Lease lease = lock.acquire();
        lease.onLost(() -> order.add("lost"));
        CompletableFuture<Void> end = stand();
        scheduler.inTheWait = () -> {
            scheduler.inTheWait = () -> {};
            order.add("ended");
            end.complete(null);
            scheduler.run();
        };
        client.close();
        assertThat(order).containsExactly("asked to end", "ended", "lost");
    }

    @Test
    void whatNeverEnds_isNamedOnce_andTheClientIsClosed() throws InterruptedException {
        Lease lease = lock.acquire();
        stand();
        internals("/locks/quick", LockOptions.defaults())
                .endBeforeClient(() -> CompletableFuture.completedFuture(null));
        String printed = PrintedWhile.running(client::close);
        assertThat(printed)
                .containsOnlyOnce("WARN")
                .contains("what stands on [/locks/leader] has not ended its work within PT3S");
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThat(isClosed()).isTrue();
    }

    @Test
    void whatEndsAsItsTimeIsOver_isNotNamed() {
        CompletableFuture<Void> end = stand();
        scheduler.inTheWait = () -> {
            scheduler.inTheWait = () -> {};
            // Who is registered last is told first: the time is over before the client is told of the end.
            var unused = end.thenRun(() -> scheduler.advance(LIMIT));
            end.complete(null);
            scheduler.run();
        };
        assertThat(PrintedWhile.running(client::close)).isEmpty();
        assertThat(isClosed()).isTrue();
    }

    @Test
    void whatCannotBeEnded_keepsNothingElse() {
        internals.endBeforeClient(() -> {
            throw new IllegalStateException("broken");
        });
        CompletableFuture<Void> end = stand();
        end.completeExceptionally(new IllegalStateException("also broken"));
        String printed = PrintedWhile.running(client::close);
        assertThat(order).containsExactly("asked to end");
        assertThat(printed).containsOnlyOnce("WARN").contains("/locks/leader").contains("broken");
        assertThat(isClosed()).isTrue();
        assertThat(scheduler.timers()).isZero();
    }

    @Test
    @Tag("H276")
    void whatReturnsNoFuture_keepsNothingElse() {
        internals.endBeforeClient(() -> null);
        CompletableFuture<Void> end = stand();
        end.complete(null);
        String printed = PrintedWhile.running(client::close);
        assertThat(order).containsExactly("asked to end");
        assertThat(printed).containsOnlyOnce("WARN").contains("/locks/leader").contains("it has returned no future");
        assertThat(isClosed()).isTrue();
        assertThat(scheduler.timers()).isZero();
    }

    @Test
    void whatWasTakenBack_isNotAsked() {
        Runnable takeBack = internals.endBeforeClient(() -> {
            order.add("asked to end");
            return new CompletableFuture<>();
        });
        takeBack.run();
        client.close();
        assertThat(order).isEmpty();
        assertThat(isClosed()).isTrue();
    }

    /** A recipe may register the same end for each of its holds. */
    @Test
    @Tag("H282")
    void whatWasTakenBack_leavesAnEqualOne() {
        Supplier<CompletableFuture<Void>> end = () -> {
            order.add("asked to end");
            return CompletableFuture.completedFuture(null);
        };
        Runnable takeBack = internals.endBeforeClient(end);
        internals.endBeforeClient(end);
        takeBack.run();
        takeBack.run();
        client.close();
        assertThat(order).containsExactly("asked to end");
    }

    @Test
    void whatComesWhileTheClientIsClosed_isRefused() {
        CompletableFuture<Void> end = new CompletableFuture<>();
        internals.endBeforeClient(() -> {
            assertThatThrownBy(() -> internals.endBeforeClient(() -> new CompletableFuture<>()))
                    .isInstanceOf(ClientClosedException.class);
            order.add("refused");
            end.complete(null);
            return end;
        });
        client.close();
        assertThat(order).containsExactly("refused");
        assertThatThrownBy(() -> internals.endBeforeClient(() -> new CompletableFuture<>()))
                .isInstanceOf(ClientClosedException.class);
    }

    /** The work of a leader closes the client while another thread waits for that work. */
    @Test
    void workThatClosesTheClientItself_isNotWaitedFor() {
        Thread work = Thread.currentThread();
        internals.endBeforeClient(() -> {
            order.add(Thread.currentThread() == work ? "by the work" : "by another");
            return Thread.currentThread() == work ? CompletableFuture.completedFuture(null) : new CompletableFuture<>();
        });
        Thread other = new Thread(() -> EngineClient.of(client).beginClose());
        other.start();
        join(other);
        assertThat(isClosed()).isFalse();
        String printed = PrintedWhile.running(client::close);
        assertThat(order).containsExactly("by another", "by the work");
        assertThat(isClosed()).isTrue();
        assertThat(printed).doesNotContain("WARN");
    }

    private static void join(Thread other) {
        try {
            other.join();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** There is no such thread to wait on; the timer and the end go on without it. */
    @Test
    void closeOnTheEngineThread_waitsForNothing() {
        CompletableFuture<Void> end = stand();
        scheduler.execute(() -> {
            client.close();
            order.add("returned");
        });
        scheduler.run();
        assertThat(order).containsExactly("asked to end", "returned");
        assertThat(isClosed()).isFalse();
        end.complete(null);
        scheduler.run();
        assertThat(isClosed()).isTrue();
    }

    private void breakEngine() {
        scheduler.execute(() -> {
            throw new IllegalStateException("played");
        });
    }

    @Test
    void clientThatEndsItself_waitsForNothing() {
        stand();
        PrintedWhile.running(() -> {
            breakEngine();
            scheduler.run();
        });
        assertThat(isClosed()).isTrue();
        assertThat(order).isEmpty();
        assertThatThrownBy(() -> internals.endBeforeClient(() -> new CompletableFuture<>()))
                .isInstanceOf(ClientClosedException.class)
                .hasRootCauseMessage("played");
    }

    /** In the middle of the wait. */
    @Test
    void clientThatEndsItselfWhileItIsClosed_doesNotWaitForTheRest() {
        stand();
        scheduler.inTheWait = () -> {
            scheduler.inTheWait = () -> {};
            breakEngine();
            scheduler.run();
            order.add(client.connectionState().toString());
        };
        PrintedWhile.running(client::close);
        assertThat(order).containsExactly("asked to end", "CLOSED");
    }

    @Test
    void limit_isRejectedByNameIfItIsBad() {
        assertThatThrownBy(() -> ZooKeeperClient.builder().closeTimeout(Duration.ofMillis(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("closeTimeout is PT-0.001S");
        assertThatThrownBy(() -> ZooKeeperClient.builder().closeTimeout(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessageContaining("closeTimeout");
    }
}
