// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
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
            Worker worker = workers.start("holder", () -> {});
            assertThat(worker.thread().getName()).isEqualTo("holder");
            assertThat(worker.thread().isDaemon()).isTrue();
            workers.join(LIMIT);
            assertThat(worker.isAlive()).isFalse();
            assertThat(worker).hasToString("worker \"holder\" (ended)");
        }
    }

    @Test
    void join_throwsTheFirstFailureWithTheOthersSuppressed() throws InterruptedException {
        IllegalStateException first = new IllegalStateException("first");
        AssertionError second = new AssertionError("second");
        try (Workers workers = new Workers()) {
            Worker one = workers.start("one", () -> {
                throw first;
            });
            workers.start("two", () -> {
                one.thread().join();
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
            Worker failing = workers.start("failing", () -> {
                throw failure;
            });
            Worker stuck = workers.start("stuck", () -> {
                failing.thread().join();
                never.await();
            });
            Soon.await().until(() -> stuck.describe().contains("CountDownLatch.await"));
            assertThatThrownBy(() -> workers.join(SHORT))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("\"stuck\"")
                    .hasMessageContaining("CountDownLatch.await")
                    .hasSuppressedException(failure);
        }
    }

    @Test
    void worker_canBeInterrupted() throws InterruptedException {
        AtomicReference<String> ending = new AtomicReference<>("none");
        CountDownLatch never = new CountDownLatch(1);
        try (Workers workers = new Workers()) {
            Worker worker = workers.start("waiter", () -> {
                try {
                    never.await();
                } catch (InterruptedException e) {
                    ending.set("interrupted");
                }
            });
            worker.interrupt();
            workers.join(LIMIT);
            assertThat(ending).hasValue("interrupted");
        }
    }

    @Test
    void close_endsRunningWorkers_withoutBlamingThem() {
        CountDownLatch never = new CountDownLatch(1);
        Workers workers = new Workers();
        Worker worker = workers.start("waiter", never::await);
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
                .thread()
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
        assertThat(Workers.hasVirtualThreads()).isEqualTo(Runtime.version().feature() >= 21);
        if (!Workers.hasVirtualThreads()) {
            assertThatThrownBy(Workers::virtual)
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("hasVirtualThreads()");
            return;
        }
        try (Workers workers = Workers.virtual()) {
            IllegalStateException failure = new IllegalStateException("virtual");
            Worker worker = workers.start("virtual", () -> {
                throw failure;
            });
            assertThat(Thread.class.getMethod("isVirtual").invoke(worker.thread()))
                    .isEqualTo(true);
            assertThat(worker.thread().getName()).isEqualTo("virtual");
            assertThatThrownBy(() -> workers.join(LIMIT)).isSameAs(failure);
        }
    }
}
