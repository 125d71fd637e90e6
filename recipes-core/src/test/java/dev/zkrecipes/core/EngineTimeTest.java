// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.Ports;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which clock the engine goes by, and how it paces what a server keeps refusing. */
@Timeout(600)
class EngineTimeTest {
    private static final Duration LONGEST_DELAY = Duration.ofSeconds(1);

    private final ManualScheduler time = new ManualScheduler();
    private final ScriptedOperations server = new ScriptedOperations(time);
    private final ZooKeeperClient client = Ports.clientBuilder(states -> server, time)
            .retryDelay(Duration.ofMillis(20), LONGEST_DELAY)
            .callbackExecutor(Runnable::run)
            .build();

    /** No time-out may depend on the time of day, which is another one whenever somebody looks at it. */
    @BeforeEach
    void wallClock_jumps() {
        Random random = new Random(1);
        time.wallClock = () -> Instant.EPOCH.plus(Duration.ofDays(random.nextInt(365)));
    }

    private InterProcessLock lock(String path) {
        return new LockInternals(client, path, new MutexDriver(), LockOptions.defaults()).threadOwned();
    }

    private Lease granted(CompletableFuture<Lease> future) {
        time.advance(Duration.ofMillis(1));
        return future.getNow(null);
    }

    @Test
    @Tag("H51")
    void timedAcquire_endsByTheMonotonicClock() throws Exception {
        server.fallSilent();
        InterProcessLock lock = lock("/timed");
        Duration limit = Duration.ofMillis(300);
        assertThatThrownBy(() -> lock.tryAcquire(Duration.ofMillis(1))).isInstanceOf(LockConnectionException.class);
        long start = time.nanoTime();
        assertThatThrownBy(() -> lock.tryAcquire(limit))
                .isInstanceOf(LockConnectionException.class)
                .hasMessage(
                        "no answer from ZooKeeper within PT0.3S, so it is not known whether the lock /timed is free;"
                                + " wait longer, or try again");
        assertThat(Duration.ofNanos(time.nanoTime() - start)).isEqualTo(limit);
    }

    /** On the thread of the caller. */
    @Test
    @Tag("H83")
    void changeOfARule_takesTheTimeThatItTakes_andTheEngineGoesOn() throws Exception {
        Lease lease = lock("/held").acquire();
        LockInternals ruled = new LockInternals(client, "/ruled", new MutexDriver(), LockOptions.defaults());
        List<Boolean> byTheEngine = new ArrayList<>();
        ruled.changeRule(rule -> {
            byTheEngine.add(time.isEngineThread());
            time.advance(server.sessionTimeout().multipliedBy(2));
            return new byte[] {1};
        });
        assertThat(byTheEngine).containsOnly(false);
        assertThat(lease.isValid()).isTrue();
    }

    @Test
    @Tag("H51")
    void leaseAges_byTheMonotonicClock() {
        Lease lease = granted(lock("/aging").acquireAsync());
        // As long as it is renewed it stands, whatever the time of day.
        time.advance(server.sessionTimeout().multipliedBy(10));
        assertThat(lease.state()).isEqualTo(LeaseState.HELD);
        server.fallSilent();
        time.advance(server.sessionTimeout().dividedBy(4));
        assertThat(lease.state()).isEqualTo(LeaseState.HELD);
        time.advance(server.sessionTimeout().dividedBy(2));
        assertThat(lease.state()).isEqualTo(LeaseState.SUSPENDED);
        time.advance(server.sessionTimeout().dividedBy(2));
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    }

    @Test
    @Tag("H48")
    void failingDeletes_areRetriedAtAPaceWithoutRecursion() {
        int count = 1000;
        List<CompletableFuture<Lease>> acquires = IntStream.range(0, count)
                .mapToObj(i -> lock("/many" + i).acquireAsync())
                .toList();
        time.advance(Duration.ofMillis(1));
        List<Lease> leases =
                acquires.stream().map(future -> future.getNow(null)).toList();
        assertThat(leases).doesNotContainNull();
        assertThat(server.nodes()).hasSize(count);

        server.requests();
        server.refuse(
                Request.DELETE,
                Collections.nCopies(100 * count, Code.CONNECTIONLOSS).toArray(Code[]::new));
        Stream<CompletableFuture<Void>> closing = leases.stream().map(Lease::closeAsync);
        List<CompletableFuture<Void>> closed = closing.toList();
        Duration away = Duration.ofSeconds(30);
        time.advance(away);
        assertThat(closed).noneMatch(CompletableFuture::isDone);
        // Each delay is at least half of the longest, but for the first six, which double up to it.
        long each = 6 + 2 * away.toSeconds() / LONGEST_DELAY.toSeconds();
        long deletes = server.requests().stream().filter(Request.DELETE::equals).count();
        assertThat(deletes).isBetween(count * 10L, count * each);

        server.clearRefusals();
        time.advance(LONGEST_DELAY);
        assertThat(closed).allMatch(CompletableFuture::isDone);
        assertThat(server.nodes()).isEmpty();
    }
}
