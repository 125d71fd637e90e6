// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The engine's thread: what it owes to those who give it tasks. */
@Timeout(600)
class EngineExecutorTest {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final int SPINS = 10_000;

    /** It never wakes up by itself, so a wake-up that is lost is a test that does not end. */
    private final EngineExecutor engine = new EngineExecutor(false);

    private final BlockingQueue<Object> ran = new LinkedBlockingQueue<>();

    @AfterEach
    void end() {
        engine.close();
    }

    private Object next() throws InterruptedException {
        return ran.poll(120, TimeUnit.SECONDS);
    }

    private void awaitTasksSoFar() {
        CountDownLatch reached = new CountDownLatch(1);
        engine.handOver(reached::countDown);
        await(reached);
    }

    private Thread thread(EngineExecutor asked) throws InterruptedException {
        asked.handOver(() -> ran.add(Thread.currentThread()));
        return (Thread) next();
    }

    /** Ends when the test's time-out interrupts it, too. After a while it lets others have the processor. */
    @SuppressWarnings("ThreadPriorityCheck") // nothing depends on it but the time that the test takes
    private static void spinUntil(BooleanSupplier condition) throws InterruptedException {
        for (int spins = 0; !condition.getAsBoolean(); spins++) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
        }
    }

    private static boolean sleeps(Thread thread) {
        return thread.getState() == Thread.State.TIMED_WAITING && !thread.isInterrupted();
    }

    private static void letPass(Duration time) throws InterruptedException {
        long start = System.nanoTime();
        spinUntil(() -> System.nanoTime() - start > time.toNanos());
    }

    /** Keeps the engine's thread busy. */
    private void hold(CountDownLatch until) {
        hold(engine, until);
    }

    private static void hold(EngineExecutor held, CountDownLatch until) {
        CountDownLatch begun = new CountDownLatch(1);
        held.handOver(() -> {
            begun.countDown();
            await(until);
        });
        await(begun);
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(120, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    // ---- Order.

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void tasksOfEachProducer_runOneByOneInTheirOrder(long seed) throws Exception {
        int producers = 8; // of which every other one may run the tasks of all
        int each = 20_000;
        int[] last = new int[producers]; // the engine's alone: a second thread in it would be seen by the counts
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger wrong = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < producers; i++) {
            int producer = i;
            Random random = new Random(seed * 100 + i);
            threads.add(new Thread(() -> {
                for (int j = 1; j <= each; j++) {
                    int number = j;
                    Runnable task = () -> {
                        if (inside.incrementAndGet() != 1 || ++last[producer] != number) {
                            wrong.incrementAndGet();
                        }
                        inside.decrementAndGet();
                    };
                    if (producer % 2 == 0) {
                        engine.handOver(task);
                    } else {
                        engine.execute(task);
                    }
                    if (random.nextInt(100) == 0) {
                        LockSupport.parkNanos(1); // now and then the engine goes to sleep
                    }
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        awaitTasksSoFar();
        assertThat(wrong).hasValue(0);
        assertThat(last).containsOnly(each);
    }

    @Test
    void sleepingEngine_isWokenByEachTask() throws Exception {
        Thread thread = thread(engine);
        for (int i = 0; i < 50; i++) {
            spinUntil(() -> sleeps(thread));
            engine.handOver(() -> ran.add("woken"));
            assertThat(next()).isEqualTo("woken");
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    @Timeout(600)
    void taskGivenWhileTheEngineFallsAsleep_isRun(long seed) throws Exception {
        Random random = new Random(seed);
        AtomicInteger done = new AtomicInteger();
        for (int i = 1; i <= 20_000; i++) {
            for (int spins = random.nextInt(400); spins > 0; spins--) {
                Thread.onSpinWait();
            }
            engine.handOver(done::incrementAndGet);
            int expected = i;
            spinUntil(() -> done.get() == expected);
        }
    }

    @Test
    void taskOfATask_runsAfterThoseGivenBefore() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        hold(go);
        engine.handOver(() -> engine.handOver(() -> ran.add("of the first")));
        engine.handOver(() -> ran.add("second"));
        go.countDown();
        assertThat(next()).isEqualTo("second");
        assertThat(next()).isEqualTo("of the first");
    }

    @Test
    void onlyTheEngineThread_isTheEngineThread() throws Exception {
        assertThat(engine.isEngineThread()).isFalse();
        engine.handOver(() -> ran.add(engine.isEngineThread()));
        assertThat(next()).isEqualTo(true);
        engine.schedule(Duration.ZERO, () -> ran.add(engine.isEngineThread()));
        assertThat(next()).isEqualTo(true);
    }

    // ---- Tasks that the calling thread runs.

    /** The engine's thread, when it has nothing to do. */
    private Thread idle() throws InterruptedException {
        return idle(engine);
    }

    /**
     * A thread that has been woken still shows that it sleeps, until it runs. So the task uses up the wake-up that comes
     * with it, and none is left for the sleep that is seen.
     */
    private static Thread idle(EngineExecutor asked) throws InterruptedException {
        AtomicBoolean given = new AtomicBoolean();
        AtomicReference<Thread> own = new AtomicReference<>();
        asked.handOver(() -> {
            while (!given.get()) {
                Thread.onSpinWait(); // a latch would wake this thread once more
            }
            LockSupport.parkNanos(1); // returns at once if the wake-up comes later than the task
            own.set(Thread.currentThread());
        });
        given.set(true);
        spinUntil(() -> own.get() != null && sleeps(own.get()));
        return own.get();
    }

    /** With a clock that stands still: however slow the machine is, the calling thread's share is not over by time. */
    private static EngineExecutor timeless() {
        return new EngineExecutor(false, () -> 0);
    }

    @Test
    void task_runsAtOnceOnTheCallingThreadWhileTheEngineIsIdle() throws Exception {
        idle();
        engine.execute(() -> {
            ran.add(Thread.currentThread());
            ran.add(engine.isEngineThread());
        });
        assertThat(ran).containsExactly(Thread.currentThread(), true);
        assertThat(engine.isEngineThread()).isFalse();
    }

    @Test
    void task_waitsWhileTheEngineIsBusy() throws Exception {
        Thread thread = idle();
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        engine.handOver(() -> {
            busy.countDown();
            await(go);
        });
        await(busy);
        engine.handOver(() -> ran.add("before"));
        engine.execute(() -> ran.add(Thread.currentThread()));
        assertThat(ran).isEmpty();
        go.countDown();
        assertThat(List.of(next(), next())).containsExactly("before", thread);
    }

    @Test
    void tasksOfATask_runAfterItOnTheSameThread() throws Exception {
        EngineExecutor timeless = timeless();
        idle(timeless);
        timeless.execute(() -> {
            timeless.execute(() -> ran.add(Thread.currentThread()));
            ran.add("first");
        });
        assertThat(ran).containsExactly("first", Thread.currentThread());
        timeless.close();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 15, 16, 20})
    void callingThread_runsNoMoreThanSixteenTasks(int more) throws Exception {
        EngineExecutor timeless = timeless();
        Thread thread = idle(timeless);
        timeless.execute(() -> {
            for (int i = 0; i < more; i++) {
                timeless.execute(() -> ran.add(Thread.currentThread()));
            }
        });
        for (int i = 1; i <= more; i++) {
            assertThat(next()).isSameAs(i < 16 ? Thread.currentThread() : thread);
        }
        timeless.close();
    }

    /** Whoever takes a lock does not work for all others while their tasks take long. */
    @ParameterizedTest
    @CsvSource({"0, 15", "499_999, 4", "500_000, 3", "2_000_000, 0", "60_000_000_000, 0"})
    void callingThread_runsTasksForTwoMilliseconds(String nanosOfEach, int more) throws Exception {
        AtomicLong clock = new AtomicLong(Long.MAX_VALUE); // which overflows meanwhile
        EngineExecutor timed = new EngineExecutor(false, clock::get);
        Thread thread = idle(timed);
        Runnable task = () -> {
            ran.add(Thread.currentThread());
            clock.addAndGet(Long.parseLong(nanosOfEach.replace("_", "")));
        };
        timed.execute(() -> {
            for (int i = 0; i < 20; i++) {
                timed.execute(task);
            }
            task.run();
        });
        for (int i = 0; i <= 20; i++) {
            assertThat(next()).as("task %d", i).isSameAs(i <= more ? Thread.currentThread() : thread);
        }
        timed.close();
    }

    @Test
    void engineOnItsThreadOnly_runsNothingOnTheCallingThread() throws Exception {
        EngineExecutor alone = new EngineExecutor(true);
        alone.execute(() -> ran.add(Thread.currentThread()));
        assertThat(next()).isNotSameAs(Thread.currentThread());
        alone.close();
    }

    /** As {@link Thread#getThreadGroup} tells a virtual thread, which may lose its carrier in the middle of a task. */
    @Test
    void virtualThread_runsNoTask() throws Exception {
        Thread thread = idle();
        Thread virtual = new Thread(
                new ThreadGroup("VirtualThreads"), () -> engine.execute(() -> ran.add(Thread.currentThread())));
        virtual.start();
        assertThat(next()).isSameAs(thread);
        virtual.join();
    }

    @Test
    void taskHandedOver_runsOnTheEnginesThread_whoeverRunsTasks() throws Exception {
        Thread thread = idle();
        engine.execute(() -> engine.handOver(() -> ran.add(Thread.currentThread())));
        assertThat(next()).isSameAs(thread);
    }

    @Test
    void taskGivenWhileAnotherThreadRunsTasks_isRunAfterwards() throws Exception {
        Thread thread = idle();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Thread other = new Thread(() -> engine.execute(() -> {
            for (int i = 0; i < 14; i++) {
                engine.execute(() -> {});
            }
            engine.execute(
                    () -> { // the last that this thread runs
                        begun.countDown();
                        await(go);
                    });
        }));
        other.start();
        await(begun);
        engine.handOver(() -> ran.add(Thread.currentThread()));
        engine.execute(() -> ran.add(Thread.currentThread()));
        assertThat(ran).isEmpty();
        go.countDown();
        assertThat(List.of(next(), next())).containsExactly(thread, thread);
        other.join();
    }

    @Test
    void engineThatWakesWhileAnotherThreadRunsTasks_learnsWhenToWakeNext() throws Exception {
        Thread thread = idle();
        engine.schedule(Duration.ofMillis(50), () -> ran.add("first"));
        spinUntil(() -> sleeps(thread));
        engine.execute(() -> {
            try {
                letPass(Duration.ofMillis(200)); // the engine wakes for its timer meanwhile
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            engine.schedule(Duration.ofMillis(100), () -> ran.add(Thread.currentThread()));
        });
        assertThat(List.of(next(), next())).containsExactly("first", thread);
    }

    @Test
    void timerOfATaskOfACallingThread_wakesTheEngine() throws Exception {
        AtomicLong clock = new AtomicLong();
        EngineExecutor timed = new EngineExecutor(false, clock::get);
        Thread thread = idle(timed);
        Duration delay = Duration.ofMillis(50);
        timed.execute(() -> timed.schedule(delay, () -> ran.add(Thread.currentThread())));
        clock.addAndGet(delay.toNanos()); // not due before, or the calling thread would run it if it were slow
        assertThat(next()).isSameAs(thread);
        timed.close();
    }

    @Test
    void closeInATaskOfACallingThread_endsTheThread() throws Exception {
        Thread thread = idle();
        engine.execute(engine::close);
        engine.execute(() -> ran.add("after"));
        thread.join(TimeUnit.SECONDS.toMillis(30));
        assertThat(thread.isAlive()).isFalse();
        assertThat(ran).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    @Timeout(600)
    void taskGivenWhileAnotherRunnerStepsDown_isRun(long seed) throws Exception {
        idle();
        AtomicInteger done = new AtomicInteger();
        AtomicInteger given = new AtomicInteger();
        Thread other = new Thread(() -> {
            Random random = new Random(seed);
            while (!Thread.currentThread().isInterrupted() && given.get() < 20_000) {
                engine.execute(() -> {});
                for (int spins = random.nextInt(200); spins > 0; spins--) {
                    Thread.onSpinWait();
                }
            }
        });
        other.start();
        for (int i = 1; i <= 20_000; i++) {
            engine.handOver(done::incrementAndGet);
            given.set(i);
            int expected = i;
            spinUntil(() -> done.get() == expected);
        }
        other.join();
    }

    // ---- Tasks that fail.

    enum Where {
        ENGINE_THREAD {
            @Override
            void give(EngineExecutor engine, Runnable task) {
                engine.handOver(task);
            }
        },
        CALLING_THREAD {
            @Override
            void give(EngineExecutor engine, Runnable task) {
                engine.execute(task);
            }
        },
        ALARM {
            @Override
            void give(EngineExecutor engine, Runnable task) {
                engine.schedule(Duration.ZERO, task);
            }
        };

        abstract void give(EngineExecutor engine, Runnable task);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("H79")
    @Tag("H97")
    void throwingTask_isTheLast_andItsEngineIsTold(Where where) throws Exception {
        for (Throwable failure :
                List.of(new IllegalStateException(), new StackOverflowError(), new OutOfMemoryError())) {
            EngineExecutor failing = new EngineExecutor(false);
            CountDownLatch busy = new CountDownLatch(1);
            CountDownLatch told = new CountDownLatch(1);
            CountDownLatch go = new CountDownLatch(1);
            failing.handOver(() -> ran.add(Thread.currentThread()));
            Thread thread = (Thread) next();
            failing.onFailure(cause -> {
                ran.add(cause);
                ran.add(failing.isEngineThread() ? Thread.currentThread() : "not on the engine thread");
                told.countDown();
                await(go);
                failing.execute(() -> ran.add("given by what was told"));
            });
            where.give(failing, () -> {
                busy.countDown();
                failing.handOver(() -> ran.add("given before it was thrown"));
                sneak(failure);
            });
            await(busy);
            await(told);
            failing.execute(() -> ran.add("given later"));
            failing.handOver(() -> ran.add("given later"));
            failing.schedule(Duration.ZERO, () -> ran.add("given later"));
            go.countDown();
            thread.join();
            assertThat(ran).containsExactly(failure, thread, "given by what was told");
            ran.clear();
        }
    }

    @Test
    @Tag("H119")
    void engineThatCannotBeToldAtOnce_isToldAgain() throws Exception {
        AtomicInteger times = new AtomicInteger();
        engine.onFailure(cause -> {
            if (times.incrementAndGet() == 1) {
                throw new OutOfMemoryError();
            }
            ran.add(cause);
        });
        IllegalStateException failure = new IllegalStateException();
        engine.handOver(() -> sneak(failure));
        assertThat(next()).isSameAs(failure);
        assertThat(times).hasValue(2);
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable failure) throws T {
        throw (T) failure;
    }

    @Test
    void interruptFlag_doesNotKeepTheEngineAwake() throws Exception {
        Thread thread = thread(engine);
        engine.handOver(() -> Thread.currentThread().interrupt());
        awaitTasksSoFar();
        spinUntil(() -> sleeps(thread));
        thread.interrupt();
        spinUntil(() -> sleeps(thread));
    }

    // ---- Timers.

    @Test
    void timers_runInTheOrderOfTheirTimes() throws Exception {
        AtomicLong clock = new AtomicLong();
        EngineExecutor timed = new EngineExecutor(false, clock::get);
        timed.schedule(Duration.ofMillis(2_500), () -> ran.add("third"));
        timed.schedule(Duration.ofMillis(200), () -> ran.add("first"));
        timed.schedule(Duration.ofSeconds(1), () -> ran.add("second"));
        clock.set(Duration.ofMillis(2_500).toNanos()); // none is due before all are set
        assertThat(List.of(next(), next(), next())).containsExactly("first", "second", "third");
        timed.close();
    }

    @Test
    void timer_doesNotRunEarly() throws Exception {
        Duration delay = Duration.ofMillis(30);
        for (int i = 0; i < 5; i++) {
            long start = System.nanoTime();
            engine.schedule(delay, () -> ran.add(System.nanoTime()));
            assertThat(Duration.ofNanos((long) next() - start)).isGreaterThanOrEqualTo(delay);
        }
    }

    @Test
    void cancelledTimer_doesNotRun() throws Exception {
        Duration delay = Duration.ofSeconds(1);
        AtomicLong clock = new AtomicLong();
        EngineExecutor timed = new EngineExecutor(false, clock::get);
        timed.schedule(delay, () -> ran.add("cancelled")).cancel();
        CountDownLatch go = new CountDownLatch(1);
        hold(timed, go);
        Timer due = timed.schedule(delay, () -> ran.add("cancelled by a task"));
        timed.handOver(due::cancel); // given before it is due, so it is in time, however late it runs
        clock.addAndGet(delay.toNanos());
        go.countDown();
        timed.handOver(() -> ran.add("last"));
        assertThat(next()).isEqualTo("last");
        timed.close();
    }

    @Test
    void dueTimer_waitsForTasksGivenBeforeAndForNoOthers() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        hold(go);
        engine.handOver(() -> ran.add("before"));
        engine.schedule(Duration.ofMillis(20), () -> ran.add("due"));
        letPass(Duration.ofMillis(40));
        engine.handOver(() -> ran.add("after"));
        go.countDown();
        assertThat(List.of(next(), next(), next())).containsExactly("before", "due", "after");
    }

    @Test
    void delayOfAnyLength_isAllowed() throws Exception {
        engine.schedule(Duration.ofSeconds(Long.MAX_VALUE), () -> ran.add("never"));
        engine.schedule(HOUR, () -> ran.add("in an hour"));
        engine.schedule(Duration.ofSeconds(-5), () -> ran.add("at once"));
        engine.schedule(Duration.ofSeconds(Long.MIN_VALUE), () -> ran.add("at once, too"));
        assertThat(List.of(next(), next())).containsExactly("at once", "at once, too");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void cancelledTimers_leaveNothingBehind(boolean onEngineThread) throws Exception {
        AtomicReference<WeakReference<Object>> first = new AtomicReference<>();
        Runnable many = () -> {
            for (int i = 0; i < 100_000; i++) {
                Object load = new Object();
                if (i == 0) {
                    first.set(new WeakReference<>(load));
                }
                engine.schedule(HOUR, () -> ran.add(load)).cancel();
            }
        };
        if (onEngineThread) {
            engine.handOver(many);
        } else {
            many.run();
        }
        awaitTasksSoFar();
        spinUntil(() -> {
            System.gc();
            return first.get().get() == null;
        });
        engine.handOver(() -> ran.add(engine.alarms.size()));
        assertThat(next()).isEqualTo(0);
    }

    // ---- The end.

    @Test
    void close_runsWhatWasGivenAndEndsTheThread() throws Exception {
        Thread thread = thread(engine);
        CountDownLatch go = new CountDownLatch(1);
        hold(go);
        engine.handOver(() -> {
            ran.add("given before");
            engine.handOver(() -> ran.add("given by a task after"));
        });
        engine.schedule(Duration.ZERO, engine::close);
        engine.close();
        engine.handOver(() -> ran.add("given after"));
        engine.schedule(Duration.ZERO, () -> ran.add("timer after"));
        go.countDown();
        thread.join(TimeUnit.SECONDS.toMillis(30));
        assertThat(thread.isAlive()).isFalse();
        engine.handOver(() -> ran.add("given long after"));
        engine.schedule(Duration.ZERO, () -> ran.add("timer long after")).cancel();
        engine.close();
        assertThat(ran).containsExactly("given before");
    }

    @Test
    void closeDoesNotWaitForTimers() throws Exception {
        Thread thread = thread(engine);
        engine.schedule(HOUR, () -> ran.add("timer"));
        engine.close();
        thread.join(TimeUnit.SECONDS.toMillis(30));
        assertThat(thread.isAlive()).isFalse();
        assertThat(ran).isEmpty();
    }
}
