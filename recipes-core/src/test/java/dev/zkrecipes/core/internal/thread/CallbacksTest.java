// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.PrintedWhile;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** User code may block, and never keeps other user code from running. */
@Timeout(60)
@Tag("H76")
class CallbacksTest {
    private static final int MANY = 100;

    private final EngineThread engine = new EngineThread();
    private final Callbacks callbacks = Callbacks.on(null, engine);
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
        return ran.get(30, TimeUnit.SECONDS);
    }

    @Test
    void blockingCallbacks_delayNobody() throws Exception {
        CountDownLatch blocked = new CountDownLatch(MANY);
        IntStream.range(0, MANY)
                .forEach(i -> callbacks.run(() -> {
                    blocked.countDown();
                    block();
                }));
        assertThat(blocked.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(ranBy(callbacks::run).getName()).startsWith("zkrecipes-callback-");
        assertThat(ranBy(callbacks::tellLoss).getName()).startsWith("zkrecipes-loss-");
    }

    @Test
    void callbacksOneAfterAnother_useOneThread() throws Exception {
        Callbacks quick = Callbacks.on(null, new ManualScheduler()); // on a slow machine they could wait for long
        Thread first = ranBy(quick::run);
        for (int i = 0; i < MANY; i++) {
            await().pollInterval(Duration.ofMillis(1))
                    .until(() -> first.getState() == Thread.State.TIMED_WAITING); // idle again
            assertThat(ranBy(quick::run)).isSameAs(first);
        }
        quick.close();
    }

    @Test
    void quickCallbacks_shareOneThread() throws Exception {
        ManualScheduler clock = new ManualScheduler();
        Callbacks quick = Callbacks.on(null, clock);
        Set<Thread> used = ConcurrentHashMap.newKeySet();
        CountDownLatch done = new CountDownLatch(100 * MANY);
        IntStream.range(0, 100 * MANY)
                .forEach(i -> quick.run(() -> {
                    used.add(Thread.currentThread());
                    done.countDown();
                }));
        assertThat(done.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(used).hasSize(1);
        quick.close();
    }

    @Test
    void threads_areMore_onlyWhileCallbacksAreHeldUp() throws Exception {
        ManualScheduler clock = new ManualScheduler();
        Callbacks held = Callbacks.on(null, clock);
        CountDownLatch blocked = new CountDownLatch(3);
        IntStream.range(0, 3)
                .forEach(i -> held.run(() -> {
                    blocked.countDown();
                    block();
                }));
        await().until(() -> blocked.getCount() == 2);
        clock.advance(CallbackThreads.PATIENCE.minusNanos(1));
        assertThat(blocked.getCount()).isEqualTo(2);
        clock.advance(Duration.ofNanos(1)); // one thread more
        await().until(() -> blocked.getCount() == 1);
        clock.advance(CallbackThreads.PATIENCE); // two more
        assertThat(blocked.await(30, TimeUnit.SECONDS)).isTrue();
        clock.advance(CallbackThreads.PATIENCE);
        assertThat(clock.timers()).as("nobody waits, so nobody looks").isZero();
        released.countDown();
        held.close();
    }

    @Test
    void idleThreads_end() throws Exception {
        threads.add(ranBy(callbacks::run));
        threads.add(ranBy(callbacks::tellLoss));
        await().atMost(Duration.ofSeconds(40)).until(() -> threads.stream().noneMatch(Thread::isAlive));
        assertThat(ranBy(callbacks::run)).as("one is made when it is needed").isNotIn(threads);
    }

    @Test
    void threads_endWhenTheClientIsClosed_andLaterCallbacksStillRun() throws Exception {
        threads.add(ranBy(callbacks::run));
        threads.add(ranBy(callbacks::tellLoss));
        callbacks.close();
        await().until(() -> threads.stream().noneMatch(Thread::isAlive));

        Thread late = ranBy(callbacks::tellLoss);
        assertThat(late).isNotSameAs(Thread.currentThread());
        await().until(() -> !late.isAlive());
    }

    @Test
    void threadOfAFailedCallback_servesTheNextOne() throws Exception {
        Callbacks quick = Callbacks.on(null, new ManualScheduler());
        Thread first = ranBy(task -> quick.run(() -> {
            task.run();
            throw new AssertionError("expected");
        }));
        await().until(() -> first.getState() == Thread.State.TIMED_WAITING);
        assertThat(ranBy(quick::run)).isSameAs(first);
        quick.close();
    }

    @Test
    void executorOfTheApplication_runsAllButLosses() throws Exception {
        Callbacks given = Callbacks.on(Runnable::run, engine);
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
                engine);
        assertThat(ranBy(refused::run).getName()).startsWith("zkrecipes-callback-");
        assertThat(ranBy(refused.sequential()).getName()).startsWith("zkrecipes-callback-");
        refused.close();
    }

    @Test
    void callbackThatAnExecutorTookBeforeItThrew_runsOnce() throws Exception {
        Callbacks unsure = Callbacks.on(
                task -> {
                    task.run();
                    throw new RejectedExecutionException("failed after it had run the task");
                },
                engine);
        AtomicInteger runs = new AtomicInteger();
        unsure.run(runs::incrementAndGet);
        unsure.sequential().execute(runs::incrementAndGet);
        ranBy(unsure::run); // behind what a thread of the client might run again
        assertThat(runs).hasValue(2);
        unsure.close();
    }

    @Test
    void threadsThatCannotBeStarted_areTriedUntilTheyCan() throws Exception {
        ManualScheduler clock = new ManualScheduler();
        AtomicInteger fails = new AtomicInteger();
        ThreadPoolExecutor pool = failing(fails);
        CallbackThreads held = new CallbackThreads(pool, clock);
        CountDownLatch blocked = new CountDownLatch(3);
        for (int i = 0; i < 3; i++) {
            held.execute(() -> {
                blocked.countDown();
                block();
            });
        }
        await().until(() -> blocked.getCount() == 2);
        fails.set(MANY);
        for (int i = 0; i < MANY + 4; i++) {
            clock.advance(CallbackThreads.PATIENCE);
        }
        assertThat(blocked.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(fails).hasValue(0);
        released.countDown();
        pool.shutdown();
    }

    @Test
    void outageOfThreads_isLoggedOnce_andTheNextOneAgain() {
        ManualScheduler clock = new ManualScheduler();
        AtomicInteger fails = new AtomicInteger();
        ThreadPoolExecutor pool = failing(fails);
        CallbackThreads held = new CallbackThreads(pool, clock);
        String printed = PrintedWhile.running(() -> {
            for (int callbacks : new int[] {3, 20}) {
                for (int i = 0; i < callbacks; i++) {
                    held.execute(this::block);
                }
                await().until(() -> pool.getActiveCount() == pool.getPoolSize());
                assertThat(pool.getQueue()).isNotEmpty();
                fails.set(MANY);
                while (fails.get() > 0) {
                    clock.advance(CallbackThreads.PATIENCE);
                }
                await().pollInSameThread()
                        .until(
                                () -> { // threads take their time to start
                                    clock.advance(CallbackThreads.PATIENCE);
                                    return pool.getQueue().isEmpty();
                                });
            }
        });
        assertThat(printed.lines().filter(line -> line.contains("No thread can be started for callbacks")))
                .hasSize(2);
        released.countDown();
        pool.shutdown();
    }

    /** The next callback asks for it again. */
    @Test
    void errorWhileTheTimerIsSet_doesNotHideCallbacksForGood() throws Exception {
        ManualScheduler clock = new ManualScheduler();
        Callbacks held = Callbacks.on(null, clock);
        CountDownLatch blocked = new CountDownLatch(3);
        for (int i = 0; i < 3; i++) {
            held.run(() -> {
                blocked.countDown();
                block();
            });
            if (i == 0) {
                await().until(() -> blocked.getCount() == 2);
                clock.refuseNextTimer(); // for the second
            }
        }
        clock.advance(CallbackThreads.PATIENCE); // one thread more
        await().until(() -> blocked.getCount() == 1);
        clock.advance(CallbackThreads.PATIENCE); // two more
        assertThat(blocked.await(30, TimeUnit.SECONDS)).isTrue();
        held.close();
    }

    @Test
    void callbackOfTheEngineThread_isTriedAgainWhereNoThreadCanBeStarted() throws Exception {
        ManualScheduler clock = new ManualScheduler();
        ThreadPoolExecutor pool = failing(new AtomicInteger(1));
        CallbackThreads own = new CallbackThreads(pool, clock);
        Callbacks starved = new Callbacks(clock, own, own, null, null);
        CompletableFuture<Thread> ran = new CompletableFuture<>();
        clock.execute(() -> starved.run(() -> ran.complete(Thread.currentThread())));
        clock.run();
        assertThat(ran).isNotDone();
        clock.advance(Duration.ofSeconds(1));
        assertThat(ran.get(30, TimeUnit.SECONDS)).isNotSameAs(Thread.currentThread());
        starved.close();
    }

    /** Nobody tries again later. */
    @Test
    void callbackWithoutAThread_runsWhenTheClientIsClosed() {
        ManualScheduler clock = new ManualScheduler();
        CallbackThreads own = new CallbackThreads(failing(new AtomicInteger(MANY)), clock);
        Callbacks starved = new Callbacks(clock, own, own, null, null);
        AtomicInteger runs = new AtomicInteger();
        clock.execute(() -> {
            starved.run(runs::incrementAndGet);
            starved.tellLoss(runs::incrementAndGet);
            starved.close();
            starved.tellLoss(runs::incrementAndGet);
        });
        clock.run();
        clock.close();
        assertThat(runs).hasValue(3);
    }

    /** And one attempt at a time. */
    @Test
    void manyCallbacksWithoutAThread_haveOneTimer_andRunInOrder() {
        ManualScheduler clock = new ManualScheduler();
        AtomicInteger failures = new AtomicInteger(MANY + 2);
        CallbackThreads own = new CallbackThreads(failing(failures), clock);
        Callbacks starved = new Callbacks(clock, own, own, null, null);
        List<Integer> ran = Collections.synchronizedList(new ArrayList<>());
        clock.execute(() -> IntStream.range(0, MANY).forEach(i -> starved.run(() -> ran.add(i))));
        clock.run();
        assertThat(clock.timers()).isEqualTo(1);
        clock.advance(Callbacks.RETRY);
        assertThat(failures).hasValue(1);
        clock.advance(Callbacks.RETRY.multipliedBy(2));
        await().until(() -> ran.size() == MANY);
        assertThat(ran).isSorted();
        own.close();
    }

    @Test
    void callbackOfAnotherThread_runsThereWhereNoThreadCanBeStarted() {
        ManualScheduler clock = new ManualScheduler();
        CallbackThreads own = new CallbackThreads(failing(new AtomicInteger(1)), clock);
        CompletableFuture<Thread> ran = new CompletableFuture<>();
        new Callbacks(clock, own, own, null, null).run(() -> ran.complete(Thread.currentThread()));
        assertThat(ran).isCompletedWithValue(Thread.currentThread());
        own.close();
    }

    private static ThreadPoolExecutor failing(AtomicInteger times) {
        ThreadPoolExecutor pool =
                new ThreadPoolExecutor(1, 1, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>(), task -> {
                    if (times.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
                        throw new InternalError("played: no memory for a thread");
                    }
                    Thread thread = new Thread(task);
                    thread.setDaemon(true);
                    return thread;
                });
        pool.setMaximumPoolSize(Integer.MAX_VALUE);
        return pool;
    }
}
