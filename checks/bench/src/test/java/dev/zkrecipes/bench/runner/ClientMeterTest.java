// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.runner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(600)
class ClientMeterTest {
    /** Other threads of the JVM allocate too, but not so much. */
    private static final int LARGE = 100 << 20;

    private final ExecutorService thread = Executors.newSingleThreadExecutor();

    @BeforeEach
    void start() throws Exception {
        thread.submit(() -> {}).get();
    }

    @AfterEach
    void stop() {
        thread.shutdownNow();
    }

    @Test
    void allocationOfAnotherThread_isSeen() throws Exception {
        ClientMeter before = ClientMeter.read();
        Future<Integer> length = thread.submit(() -> new byte[LARGE].length);
        assertThat(length.get()).isEqualTo(LARGE);
        assertThat(ClientMeter.read().bytesSince(before)).isGreaterThanOrEqualTo(LARGE);
    }

    @Test
    void allocationOfTheReader_isNotSeen() {
        ClientMeter before = ClientMeter.read();
        byte[] large = new byte[LARGE];
        assertThat(ClientMeter.read().bytesSince(before)).isLessThan(large.length);
    }

    @Test
    void workOfAnotherThread_isSeen() {
        ClientMeter before = ClientMeter.read();
        CountDownLatch never = new CountDownLatch(1);
        Future<?> busy = thread.submit(() -> {
            while (!Thread.interrupted() && never.getCount() > 0) {
                Thread.onSpinWait();
            }
        });
        await().until(() -> ClientMeter.read().processorNanosSince(before) > 0);
        busy.cancel(true);
    }
}
