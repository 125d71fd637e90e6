// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OrdersTest {
    private static final Duration LONG = Duration.ofMinutes(1);

    private final AtomicInteger ends = new AtomicInteger();
    private final PipedOutputStream demo = new PipedOutputStream();
    private Orders orders;

    @BeforeEach
    void listen() throws IOException {
        orders = Orders.listen(new PipedInputStream(demo), ends::incrementAndGet);
    }

    @AfterEach
    void close() throws IOException {
        demo.close();
    }

    private void tell(String line) throws IOException {
        demo.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
        demo.flush();
    }

    @Test
    void begin_letsTheWorkerBegin() throws IOException, InterruptedException {
        tell(Order.BEGIN.line());
        orders.awaitBegin();
        assertThat(orders.isStopped()).isFalse();
    }

    @Test
    void idle_isTakenOnce() throws IOException {
        tell(Order.IDLE.line());
        await().until(orders::takeIdle);
        assertThat(orders.takeIdle()).isFalse();
    }

    @Test
    void unknownOrder_isIgnored() throws IOException, InterruptedException {
        tell("dance");
        tell(Order.BEGIN.line());
        orders.awaitBegin();
        assertThat(orders.isStopped()).isFalse();
    }

    @Test
    void stop_endsAWait() throws IOException {
        tell(Order.STOP.line());
        assertThatThrownBy(() -> orders.interruptibly(() -> {
                    new CountDownLatch(1).await();
                    return true;
                }))
                .isInstanceOf(InterruptedException.class);
        assertThatThrownBy(() -> orders.pause(LONG)).isInstanceOf(InterruptedException.class);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(orders.isOrphaned()).isFalse();
    }

    @Test
    void stopAfterAWait_doesNotInterruptWhatFollows() throws IOException, InterruptedException {
        assertThat(orders.<String>interruptibly(() -> "granted")).isEqualTo("granted");
        tell(Order.STOP.line());
        await().until(orders::isStopped);
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void deathOfTheDemo_stopsAndEnds() throws IOException {
        demo.close();
        await().until(() -> ends.get() == 1);
        assertThat(orders.isStopped()).isTrue();
        assertThat(orders.isOrphaned()).isTrue();
    }

    @Test
    void closingAfterAStop_isNoDeath() throws IOException {
        tell(Order.STOP.line());
        demo.close();
        await().until(() -> ends.get() == 1);
        assertThat(orders.isOrphaned()).isFalse();
    }
}
