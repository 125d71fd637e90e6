// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.PrintedWhile;
import dev.zkrecipes.core.internal.zk.HandleKind;
import dev.zkrecipes.core.internal.zk.Obstacle;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.lang.reflect.Proxy;
import java.net.ConnectException;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(600)
class ConnectionTroubleTest {
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(3);

    private final ManualScheduler scheduler = new ManualScheduler();
    private final BlockingQueue<Runnable> findings = new LinkedBlockingQueue<>(); // of the thread that asks
    private final ConnectionTrouble trouble =
            new ConnectionTrouble(new HandleKind.Opened("127.0.0.1:1"), null, takingFindings());

    /** The clock and the timers of the test; tasks of other threads wait until the test runs them. */
    private EngineScheduler takingFindings() {
        return (EngineScheduler) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {EngineScheduler.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("execute")) {
                        findings.add((Runnable) arguments[0]);
                        return null;
                    }
                    return method.invoke(scheduler, arguments);
                });
    }

    private Runnable nextFinding() throws InterruptedException {
        Runnable finding = findings.poll(120, TimeUnit.SECONDS);
        assertThat(finding).isNotNull();
        return finding;
    }

    @Test
    void finding_isNamedByErrors_andThenLookedForAgain() throws InterruptedException {
        trouble.watch(REQUEST_TIMEOUT);
        scheduler.advance(REQUEST_TIMEOUT);
        assertThat(trouble.error(", so")).hasMessage("not connected to ZooKeeper, so");
        assertThat(trouble.reason()).isEmpty();
        nextFinding().run();
        assertThat(trouble.reason())
                .get()
                .satisfies(reason -> assertThat(reason)
                        .isExactlyInstanceOf(LockConnectionException.class)
                        .hasMessageStartingWith("127.0.0.1:1 refuses connections")
                        .hasCauseInstanceOf(ConnectException.class));
        assertThat(trouble.error(", so")).hasMessageContaining("never since the client was made: 127.0.0.1:1 refuses");
        assertThat(scheduler.timers()).isEqualTo(1);
    }

    @Test
    void findingThatComesBehindTheConnection_isForgotten() throws InterruptedException {
        trouble.watch(REQUEST_TIMEOUT);
        scheduler.advance(REQUEST_TIMEOUT);
        Runnable late = nextFinding();
        trouble.onConnected();
        late.run();
        assertThat(trouble.error("")).hasMessage("not connected to ZooKeeper");
        assertThat(trouble.reason()).isEmpty();
        assertThat(scheduler.timers()).as("looks that are to come").isZero();
    }

    @Test
    void obstacle_isTheReason_untilThereIsAConnection() {
        trouble.onObstacle(Obstacle.REFUSED);
        assertThat(trouble.reason())
                .get()
                .satisfies(reason -> assertThat(reason)
                        .isExactlyInstanceOf(LockAccessException.class)
                        .hasMessage(Obstacle.REFUSED.text()));
        trouble.onSession(); // the servers may refuse this one, too
        assertThat(trouble.reason()).isPresent();
        trouble.onConnected();
        assertThat(trouble.reason()).isEmpty();
    }

    /** Who reads the log in the middle of the trouble finds the reason, and not much else. */
    @Test
    void reason_isLoggedAgain_onceAMinute() throws InterruptedException {
        trouble.watch(REQUEST_TIMEOUT);
        StringBuilder log = new StringBuilder();
        for (Duration time = Duration.ZERO; time.toMinutes() < 10; time = time.plusSeconds(1)) {
            scheduler.advance(Duration.ofSeconds(1));
            if (scheduler.timers() == 0) { // it looks
                Runnable finding = nextFinding();
                log.append(PrintedWhile.running(finding));
            }
        }
        assertThat(log.toString().lines().filter(line -> line.contains("Not connected to ZooKeeper (never since")))
                .hasSizeBetween(8, 10);
        assertThat(log.toString().lines().filter(line -> line.contains("WARN"))).hasSizeLessThan(11);
    }

    @Test
    void firstLook_comesAfterAQuarterOfAShortRequestTimeout() {
        trouble.watch(Duration.ofMillis(400));
        assertThat(scheduler.delays()).containsExactly(Duration.ofMillis(100));
        assertThat(scheduler.timers()).isEqualTo(1);
        trouble.end();
        assertThat(scheduler.timers()).isZero();
    }
}
