// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class WorkersTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final Duration SHORT = Duration.ofMillis(100);

    @Test
    void join_waitsForAllAlsoForThoseStartedByWorkers() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(2);
        try (Workers workers = new Workers()) {
            workers.start("outer", () -> {
                workers.start("inner", done::countDown);
                done.countDown();
            });
            workers.join(LIMIT);
            assertThat(done.getCount()).isZero();
        }
    }

    @Test
    void threads_haveTheirNamesAndAreDaemons() throws InterruptedException {
        try (Workers workers = new Workers()) {
            Thread worker = workers.start("holder", () -> {});
            assertThat(worker.getName()).isEqualTo("holder");
            assertThat(worker.isDaemon()).isTrue();
            workers.join(LIMIT);
            assertThat(worker.isAlive()).isFalse();
        }
    }

    @Test
    void join_throwsTheFirstFailureWithTheOthersSuppressed() throws InterruptedException {
        IllegalStateException first = new IllegalStateException("first");
        AssertionError second = new AssertionError("second");
        try (Workers workers = new Workers()) {
            Thread one = workers.start("one", () -> {
                throw first;
            });
            workers.start("two", () -> {
                one.join();
                throw second;
            });
            assertThatThrownBy(() -> workers.join(LIMIT)).isSameAs(first).hasSuppressedException(second);
            workers.join(LIMIT);
        }
    }

    @Test
    void checkedFailure_isTheCauseOfAnError() {
        IOException failure = new IOException("disk");
        try (Workers workers = new Workers()) {
            workers.start("one", () -> {
                throw failure;
            });
            assertThatThrownBy(() -> workers.join(LIMIT))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("disk")
                    .hasCause(failure);
        }
    }

    @Test
    void lateThread_isNamedWithItsPlaceAndTheFailuresOfOthers() {
        IOException failure = new IOException("disk");
        CountDownLatch never = new CountDownLatch(1);
        try (Workers workers = new Workers()) {
            Thread failing = workers.start("failing", () -> {
                throw failure;
            });
            Thread stuck = workers.start("stuck", () -> {
                failing.join();
                never.await();
            });
            Soon.await().until(() -> Workers.describe(List.of(stuck)).contains("CountDownLatch.await"));
            assertThatThrownBy(() -> workers.join(SHORT))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("\"stuck\"")
                    .hasMessageContaining("CountDownLatch.await")
                    .hasSuppressedException(failure);
        }
    }

    @Test
    void close_endsRunningWorkers_withoutBlamingThem() {
        CountDownLatch never = new CountDownLatch(1);
        Workers workers = new Workers();
        Thread worker = workers.start("waiter", never::await);
        workers.close();
        assertThat(worker.isAlive()).isFalse();
        workers.close();
        assertThatThrownBy(() -> workers.start("late", () -> {})).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void close_throwsAnUnjoinedFailure() throws InterruptedException {
        IllegalStateException failure = new IllegalStateException("unseen");
        Workers workers = new Workers();
        workers.start("one", () -> {
                    throw failure;
                })
                .join();
        assertThatThrownBy(workers::close).isSameAs(failure);
    }

    @Test
    void join_canBeInterrupted() {
        CountDownLatch never = new CountDownLatch(1);
        try (Workers workers = new Workers()) {
            workers.start("waiter", never::await);
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> workers.join(LIMIT)).isInstanceOf(InterruptedException.class);
        } finally {
            assertThat(Thread.interrupted()).isFalse();
        }
    }

    @Test
    void virtualThreads_existSinceJdk21() throws ReflectiveOperationException, InterruptedException {
        if (Runtime.version().feature() < 21) {
            assertThatThrownBy(Workers::virtual).isInstanceOf(UnsupportedOperationException.class);
            return;
        }
        try (Workers workers = Workers.virtual()) {
            IllegalStateException failure = new IllegalStateException("virtual");
            Thread worker = workers.start("virtual", () -> {
                throw failure;
            });
            assertThat(Thread.class.getMethod("isVirtual").invoke(worker)).isEqualTo(true);
            assertThat(worker.getName()).isEqualTo("virtual");
            assertThatThrownBy(() -> workers.join(LIMIT)).isSameAs(failure);
        }
    }
}
