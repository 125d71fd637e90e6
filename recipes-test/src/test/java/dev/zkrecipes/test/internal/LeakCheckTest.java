// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class LeakCheckTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final Duration SHORT = Duration.ofMillis(50);

    @Test
    void newThread_isFoundAndDescribedUntilItEnds() throws InterruptedException {
        CountDownLatch end = new CountDownLatch(1);
        try (Workers workers = new Workers()) {
            LeakCheck check = LeakCheck.start();
            Thread worker = workers.start("leaky-thread", end::await);
            assertThat(check.newThreads()).containsExactly(worker);
            Soon.await().until(() -> Workers.describe(List.of(worker)).contains("CountDownLatch.await"));
            assertThatThrownBy(() -> check.assertNoNewThreads(SHORT))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("1 new threads still live after ")
                    .hasMessageContaining("\"leaky-thread\"")
                    .hasMessageContaining("CountDownLatch.await");
            workers.start("opener", end::countDown);
            check.assertNoNewThreads(LIMIT);
            assertThat(check.newThreads()).isEmpty();
        }
    }

    @Test
    void oldThread_isNotFound() throws InterruptedException {
        CountDownLatch end = new CountDownLatch(1);
        try (Workers workers = new Workers()) {
            workers.start("old-thread", end::await);
            LeakCheck.start().assertNoNewThreads(SHORT);
            end.countDown();
        }
    }

    @Test
    void names_decideWhichThreadsAreChecked() throws InterruptedException {
        CountDownLatch end = new CountDownLatch(1);
        try (Workers workers = new Workers()) {
            LeakCheck check = LeakCheck.start();
            workers.start("one-thread", end::await);
            workers.start("two-thread", end::await);
            assertThat(check.newThreads()).hasSize(2);
            assertThat(check.ignoring("one-").newThreads())
                    .extracting(Thread::getName)
                    .containsExactly("two-thread");
            assertThat(check.onlyNamed("one-", "three-").newThreads())
                    .extracting(Thread::getName)
                    .containsExactly("one-thread");
            check.ignoring("one-", "two-").assertNoNewThreads(SHORT);
            end.countDown();
        }
    }

    @Test
    void jvmThreads_areNotFound() throws InterruptedException {
        LeakCheck check = LeakCheck.start();
        java.util.concurrent.ForkJoinPool.commonPool().submit(() -> {}).join();
        check.assertNoNewThreads(SHORT);
    }
}
