// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.start;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Standard error that does not hold up who writes to it. */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StandardErrorTest {
    /** Takes bytes only when it may. */
    private static final class Blocked extends OutputStream {
        private final CountDownLatch open = new CountDownLatch(1);
        private final ByteArrayOutputStream taken = new ByteArrayOutputStream();

        @Override
        public void write(int b) {
            write(new byte[] {(byte) b}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) {
            try {
                open.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            taken.write(bytes, offset, length);
        }
    }

    private final Blocked target = new Blocked();
    private final StandardError error = new StandardError(target);
    private final PrintStream err = new PrintStream(error, true, StandardCharsets.UTF_8);

    @AfterEach
    void open() {
        target.open.countDown();
    }

    @Test
    void blockedReader_holdsUpNobody_andReadsEverythingLater() {
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < 1000; i++) {
            err.print(i + "\n");
            all.append(i).append('\n');
        }
        target.open.countDown();
        error.finish();
        assertThat(target.taken.toString(StandardCharsets.UTF_8)).isEqualTo(all.toString());
    }

    @Test
    void blockedReader_doesNotHoldUpTheEnd() {
        err.println("x");
        error.finish();
        assertThat(target.taken.size()).isZero();
    }

    @Test
    void interruptMeanwhile_isKept() {
        Thread.currentThread().interrupt();
        err.println("x");
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void whatWaits_isBounded() {
        byte[] half = new byte[StandardError.MOST_BYTES / 2];
        for (int i = 0; i < 5; i++) {
            error.write(half, 0, half.length);
        }
        target.open.countDown();
        error.finish();
        assertThat(target.taken.size()).isEqualTo(StandardError.MOST_BYTES);
    }
}
