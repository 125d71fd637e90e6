// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.PrintedWhile;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** User code may block, and never keeps other user code from running. */
@Timeout(600)
@Tag("H76")
class CallbacksTest {
    private static final int MANY = 100;
    private static final Duration LIMIT = Duration.ofSeconds(120);

    private final EngineExecutor engine = new EngineExecutor(true);
    private final Callbacks callbacks = Callbacks.on(null, null, engine);
    private final CountDownLatch released = new CountDownLatch(1);
    private final List<Thread> threads = new ArrayList<>();

    @AfterEach
    void release() {
        released.countDown();
        callbacks.close();
        engine.close();
    }

    private void block() {
        try {
            released.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Thread ranBy(Executor executor) throws Exception {
        CompletableFuture<Thread> ran = new CompletableFuture<>();
        executor.execute(() -> ran.complete(Thread.currentThread()));
        return ran.get(120, TimeUnit.SECONDS);
    }

    @Test
    void blockingCallbacks_delayNobody() throws Exception {
        CountDownLatch blocked = new CountDownLatch(MANY);
        IntStream.range(0, MANY)
                .forEach(i -> callbacks.run(() -> {
                    blocked.countDown();
                    block();
                }));
        assertThat(blocked.await(120, TimeUnit.SECONDS)).isTrue();
        assertThat(ranBy(callbacks::run).getName()).startsWith("zkrecipes-callback-");
        assertThat(ranBy(callbacks::tellLoss).getName()).startsWith("zkrecipes-loss-");
    }

    @Test
    void idleThreads_end() throws Exception {
        threads.add(ranBy(callbacks::run));
        threads.add(ranBy(callbacks::tellLoss));
        await().atMost(LIMIT).until(() -> threads.stream().noneMatch(Thread::isAlive));
        assertThat(ranBy(callbacks::run)).as("one is made when it is needed").isNotIn(threads);
    }

    @Test
    void threads_endWhenTheClientIsClosed_andLaterCallbacksStillRun() throws Exception {
        threads.add(ranBy(callbacks::run));
        threads.add(ranBy(callbacks::tellLoss));
        callbacks.close();
        await().atMost(LIMIT).until(() -> threads.stream().noneMatch(Thread::isAlive));

        Thread late = ranBy(callbacks::tellLoss);
        assertThat(late).isNotSameAs(Thread.currentThread());
        await().atMost(LIMIT).until(() -> !late.isAlive());
    }

    @Test
    void executorOfTheApplication_runsAllButLosses() throws Exception {
        Callbacks given = Callbacks.on(Runnable::run, null, engine);
        assertThat(ranBy(given::run)).isSameAs(Thread.currentThread());
        assertThat(ranBy(given.sequential())).isSameAs(Thread.currentThread());
        assertThat(ranBy(given::tellLoss).getName()).startsWith("zkrecipes-loss-");
        given.close();
    }

    @Test
    void rejectedCallback_runsOnAThreadOfTheClient() throws Exception {
        Callbacks refused = Callbacks.on(
                task -> {
                    throw new RejectedExecutionException("full");
                },
                null,
                engine);
        assertThat(ranBy(refused::run).getName()).startsWith("zkrecipes-callback-");
        assertThat(ranBy(refused.sequential()).getName()).startsWith("zkrecipes-callback-");
        assertThat(PrintedWhile.running(() -> refused.run(() -> {})))
                .contains("The application's callback executor refused a callback")
                .contains("RejectedExecutionException");
        refused.close();
    }

    @Test
    void callbackThatAnExecutorTookBeforeItThrew_runsOnce() throws Exception {
        Callbacks unsure = Callbacks.on(
                task -> {
                    task.run();
                    throw new RejectedExecutionException("failed after it had run the task");
                },
                null,
                engine);
        AtomicInteger runs = new AtomicInteger();
        unsure.run(runs::incrementAndGet);
        unsure.sequential().execute(runs::incrementAndGet);
        ranBy(unsure::run); // behind what a thread of the client might run again
        assertThat(runs).hasValue(2);
        unsure.close();
    }

    private void block(CountDownLatch begun, int callbacks, Executor executor) {
        for (int i = 0; i < callbacks; i++) {
            executor.execute(() -> {
                begun.countDown();
                block();
            });
        }
    }

    /** However slow the processor is. */
    @Test
    void quickCallbacks_shareAFewThreads() throws Exception {
        // By a clock that goes on, a machine that stands still for a second would look like callbacks that are stuck.
        Callbacks timeless = Callbacks.on(null, null, new ManualScheduler());
        Set<Thread> used = ConcurrentHashMap.newKeySet();
        CountDownLatch done = new CountDownLatch(100 * MANY);
        IntStream.range(0, 100 * MANY)
                .forEach(i -> timeless.run(() -> {
                    used.add(Thread.currentThread());
                    done.countDown();
                }));
        assertThat(done.await(120, TimeUnit.SECONDS)).isTrue();
        assertThat(used).hasSizeLessThanOrEqualTo(CallbackThreads.MOST);
        timeless.close();
    }

    @Test
    void threadsAreMore_onlyWhileNoneOfThemGoesOn() throws Exception {
        ManualScheduler clock = new ManualScheduler();
        ThreadPoolExecutor pool = EngineThreads.idling(CallbackThreads.MOST, "played-");
        CallbackThreads held = new CallbackThreads(pool, clock);
        CountDownLatch quick = new CountDownLatch(1);
        held.execute(() -> Uninterruptibles.awaitUninterruptibly(quick));
        CountDownLatch begun = new CountDownLatch(CallbackThreads.MOST + MANY);
        block(begun, CallbackThreads.MOST + MANY, held);
        await().atMost(LIMIT).until(() -> begun.getCount() == MANY + 1);

        quick.countDown(); // one ends, so the next one begins
        await().atMost(LIMIT).until(() -> begun.getCount() == MANY && pool.getCompletedTaskCount() == 1);
        clock.advance(CallbackThreads.PATIENCE);
        assertThat(pool.getPoolSize()).isEqualTo(CallbackThreads.MOST);

        clock.advance(CallbackThreads.PATIENCE); // none has ended since
        await().atMost(LIMIT).until(() -> begun.getCount() == MANY - CallbackThreads.MOST);
        clock.advance(CallbackThreads.PATIENCE);
        assertThat(begun.await(120, TimeUnit.SECONDS)).isTrue();

        clock.advance(CallbackThreads.PATIENCE);
        assertThat(pool.getCorePoolSize()).isEqualTo(CallbackThreads.MOST);
        assertThat(clock.timers()).as("nobody waits, so nobody looks").isZero();
        released.countDown();
        held.close();
    }

    @Test
    void callbacksThatWaitForALaterOne_end() throws Exception {
        CountDownLatch later = new CountDownLatch(1);
        CountDownLatch ended = new CountDownLatch(MANY);
        for (int i = 0; i < MANY; i++) {
            callbacks.run(() -> {
                Uninterruptibles.awaitUninterruptibly(later);
                ended.countDown();
            });
        }
        callbacks.run(later::countDown);
        assertThat(ended.await(120, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void callbackWithoutAThread_runsOnTheCallingThread() throws Exception {
        ManualScheduler clock = new ManualScheduler();
        CallbackThreads own = new CallbackThreads(failing(new AtomicInteger(2)), clock);
        Callbacks starved = new Callbacks(own, own, null, null);
        assertThat(ranBy(starved::run)).isSameAs(Thread.currentThread());
        assertThat(ranBy(starved::tellLoss)).isSameAs(Thread.currentThread());
        assertThat(ranBy(starved::tellLoss)).isNotSameAs(Thread.currentThread());
        starved.close();
    }

    @Test
    void callbackOfNoClient_runsOnAThreadThatEnds() throws Exception {
        for (Executor each : List.<Executor>of(Callbacks.ofNoClient()::run, Callbacks.ofNoClient()::tellLoss)) {
            Thread ran = ranBy(each);
            assertThat(ran).isNotSameAs(Thread.currentThread());
            await().atMost(LIMIT).until(() -> !ran.isAlive());
        }
    }

    /** Of those that the stuck ones call for. */
    @Test
    void threadThatCannotBeStarted_endsNothing() {
        ManualScheduler scheduler = new ManualScheduler();
        AtomicInteger left = new AtomicInteger(CallbackThreads.MOST);
        ThreadPoolExecutor pool = EngineThreads.idling(CallbackThreads.MOST, "played-");
        ThreadFactory making = pool.getThreadFactory();
        pool.setThreadFactory(task -> {
            if (left.getAndDecrement() <= 0) {
                throw new OutOfMemoryError("played: no thread");
            }
            return making.newThread(task);
        });
        CallbackThreads threads = new CallbackThreads(pool, scheduler);
        CountDownLatch over = new CountDownLatch(1);
        AtomicInteger ended = new AtomicInteger();
        for (int i = 0; i <= CallbackThreads.MOST; i++) {
            threads.execute(() -> {
                Uninterruptibles.awaitUninterruptibly(over);
                ended.incrementAndGet();
            });
        }
        scheduler.advance(CallbackThreads.PATIENCE.multipliedBy(3));
        assertThat(scheduler.failure()).isEmpty();
        over.countDown();
        await().atMost(LIMIT).untilAsserted(() -> assertThat(ended).hasValue(CallbackThreads.MOST + 1));
    }

    private static ThreadPoolExecutor failing(AtomicInteger times) {
        ThreadPoolExecutor pool = EngineThreads.idling(CallbackThreads.MOST, "played-");
        ThreadFactory making = pool.getThreadFactory();
        pool.setThreadFactory(task -> {
            if (times.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                throw new InternalError("played: no memory for a thread");
            }
            return making.newThread(task);
        });
        return pool;
    }
}
