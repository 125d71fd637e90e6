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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The engine's thread: what it owes to those who give it tasks. */
@Timeout(60)
class EngineThreadTest {
    private static final Duration HOUR = Duration.ofHours(1);
    private static final int SPINS = 10_000;

    /** It never wakes up by itself, so a wake-up that is lost is a test that does not end. */
    private final EngineThread engine = new EngineThread(HOUR.toNanos());

    private final BlockingQueue<Object> ran = new LinkedBlockingQueue<>();

    @AfterEach
    void end() {
        engine.close();
    }

    private Object next() throws InterruptedException {
        return ran.poll(30, TimeUnit.SECONDS);
    }

    private void awaitTasksSoFar() {
        CountDownLatch reached = new CountDownLatch(1);
        engine.execute(reached::countDown);
        await(reached);
    }

    private Thread thread() throws InterruptedException {
        engine.execute(() -> ran.add(Thread.currentThread()));
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

    private void hold(CountDownLatch until) {
        engine.execute(() -> await(until));
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    // ---- Order.

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void tasksOfEachProducer_runOneByOneInTheirOrder(long seed) throws Exception {
        int producers = 8; // of which every other one delivers, and so may run the tasks of all
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
                        engine.execute(task);
                    } else {
                        engine.deliver(task);
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
        Thread thread = thread();
        for (int i = 0; i < 50; i++) {
            spinUntil(() -> sleeps(thread));
            engine.execute(() -> ran.add("woken"));
            assertThat(next()).isEqualTo("woken");
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    @Timeout(300)
    void taskGivenWhileTheEngineFallsAsleep_isRun(long seed) throws Exception {
        Random random = new Random(seed);
        AtomicInteger done = new AtomicInteger();
        for (int i = 1; i <= 20_000; i++) {
            for (int spins = random.nextInt(400); spins > 0; spins--) {
                Thread.onSpinWait();
            }
            engine.execute(done::incrementAndGet);
            int expected = i;
            spinUntil(() -> done.get() == expected);
        }
    }

    @Test
    void taskOfATask_runsAfterThoseGivenBefore() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        hold(go);
        engine.execute(() -> engine.execute(() -> ran.add("of the first")));
        engine.execute(() -> ran.add("second"));
        go.countDown();
        assertThat(next()).isEqualTo("second");
        assertThat(next()).isEqualTo("of the first");
    }

    @Test
    void onlyTheEngineThread_isTheEngineThread() throws Exception {
        assertThat(engine.isEngineThread()).isFalse();
        engine.execute(() -> ran.add(engine.isEngineThread()));
        assertThat(next()).isEqualTo(true);
        engine.schedule(Duration.ZERO, () -> ran.add(engine.isEngineThread()));
        assertThat(next()).isEqualTo(true);
    }

    // ---- Tasks that a thread delivers.

    /** The engine's thread, when it has nothing to do. */
    private Thread idle() throws InterruptedException {
        Thread thread = thread();
        spinUntil(() -> sleeps(thread));
        return thread;
    }

    @Test
    void deliveredTask_runsAtOnceWhileTheEngineIsIdle() throws Exception {
        idle();
        engine.deliver(() -> {
            ran.add(Thread.currentThread());
            ran.add(engine.isEngineThread());
        });
        assertThat(ran).containsExactly(Thread.currentThread(), true);
        assertThat(engine.isEngineThread()).isFalse();
    }

    @Test
    void deliveredTask_waitsWhileTheEngineIsBusy() throws Exception {
        Thread thread = idle();
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        engine.execute(() -> {
            busy.countDown();
            await(go);
        });
        await(busy);
        engine.execute(() -> ran.add("before"));
        engine.deliver(() -> ran.add(Thread.currentThread()));
        assertThat(ran).isEmpty();
        go.countDown();
        assertThat(List.of(next(), next())).containsExactly("before", thread);
    }

    @Test
    void tasksOfADeliveredTask_runLaterOnTheEngineThread() throws Exception {
        Thread thread = idle();
        engine.deliver(() -> {
            engine.execute(() -> ran.add(Thread.currentThread()));
            engine.deliver(() -> ran.add(Thread.currentThread()));
            ran.add("first");
        });
        assertThat(List.of(next(), next(), next())).containsExactly("first", thread, thread);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 15, 16, 20})
    void threadThatDelivers_runsWhatWasGivenBefore_butNoMoreThanSixteenTasks(int before) throws Exception {
        Thread thread = idle();
        for (int i = 0; i < before; i++) {
            engine.executeWithNext(() -> ran.add(Thread.currentThread()));
        }
        engine.deliver(() -> ran.add(Thread.currentThread()));
        for (int i = 1; i <= before + 1; i++) {
            assertThat(next()).isSameAs(i <= 16 ? Thread.currentThread() : thread);
        }
    }

    @Test
    void taskGivenWhileAnotherThreadRunsTasks_isRunAfterwards() throws Exception {
        Thread thread = idle();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Thread delivering = new Thread(() -> {
            for (int i = 0; i < 15; i++) {
                engine.executeWithNext(() -> {});
            }
            engine.deliver(
                    () -> { // the last that this thread runs
                        begun.countDown();
                        await(go);
                    });
        });
        delivering.start();
        await(begun);
        engine.execute(() -> ran.add(Thread.currentThread()));
        engine.deliver(() -> ran.add(Thread.currentThread()));
        assertThat(ran).isEmpty();
        go.countDown();
        assertThat(List.of(next(), next())).containsExactly(thread, thread);
        delivering.join();
    }

    @Test
    void engineThatWakesWhileAnotherThreadRunsTasks_learnsWhenToWakeNext() throws Exception {
        Thread thread = idle();
        engine.schedule(Duration.ofMillis(50), () -> ran.add("first"));
        spinUntil(() -> sleeps(thread));
        engine.deliver(() -> {
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
    void timerOfADeliveredTask_wakesTheEngine() throws Exception {
        Thread thread = idle();
        engine.deliver(() -> engine.schedule(Duration.ofMillis(50), () -> ran.add(Thread.currentThread())));
        assertThat(next()).isSameAs(thread);
    }

    @Test
    void deliveredTaskThatThrows_harmsNobody() throws Exception {
        idle();
        engine.deliver(() -> sneak(new StackOverflowError()));
        engine.deliver(() -> ran.add("next"));
        assertThat(next()).isEqualTo("next");
    }

    @Test
    void interruptFlagOfATask_isClearedOnTheThreadThatDelivers() throws Exception {
        idle();
        engine.deliver(() -> Thread.currentThread().interrupt());
        assertThat(Thread.interrupted())
                .as("it would end ZooKeeper's event thread")
                .isFalse();
        idle();
        for (int i = 1; i < 16; i++) {
            engine.executeWithNext(() -> {});
        }
        engine.deliver(() -> Thread.currentThread().interrupt());
        assertThat(Thread.interrupted()).as("after the last task, too").isFalse();
    }

    @Test
    void closeInADeliveredTask_endsTheThread() throws Exception {
        Thread thread = idle();
        engine.deliver(engine::close);
        engine.deliver(() -> ran.add("after"));
        thread.join(TimeUnit.SECONDS.toMillis(30));
        assertThat(thread.isAlive()).isFalse();
        assertThat(ran).isEmpty();
    }

    @Test
    void taskDeliveredBeforeTheFirst_runsOnTheEngineThread() throws Exception {
        engine.deliver(() -> ran.add(Thread.currentThread()));
        assertThat(next()).isNotSameAs(Thread.currentThread());
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    @Timeout(300)
    void taskGivenWhileAnotherRunnerStepsDown_isRun(long seed) throws Exception {
        idle();
        AtomicInteger done = new AtomicInteger();
        AtomicInteger given = new AtomicInteger();
        Thread delivering = new Thread(() -> {
            Random random = new Random(seed);
            while (!Thread.currentThread().isInterrupted() && given.get() < 20_000) {
                engine.deliver(() -> {});
                for (int spins = random.nextInt(200); spins > 0; spins--) {
                    Thread.onSpinWait();
                }
            }
        });
        delivering.start();
        for (int i = 1; i <= 20_000; i++) {
            engine.execute(done::incrementAndGet);
            given.set(i);
            int expected = i;
            spinUntil(() -> done.get() == expected);
        }
        delivering.join();
    }

    // ---- Tasks that fail.

    @Test
    void throwingTask_stopsNoOther() throws Exception {
        for (Throwable failure :
                List.of(new IllegalStateException(), new StackOverflowError(), new OutOfMemoryError())) {
            engine.execute(() -> sneak(failure));
            engine.schedule(Duration.ZERO, () -> sneak(failure));
            engine.execute(() -> ran.add(failure));
            assertThat(next()).isSameAs(failure);
        }
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable failure) throws T {
        throw (T) failure;
    }

    @Test
    void interruptFlagOfATask_isClearedBeforeTheNext() throws Exception {
        engine.execute(() -> Thread.currentThread().interrupt());
        engine.execute(() -> ran.add(Thread.currentThread().isInterrupted()));
        assertThat(next()).isEqualTo(false);
        Thread thread = thread();
        thread.interrupt();
        spinUntil(() -> sleeps(thread));
    }

    // ---- Timers.

    @Test
    void timers_runInTheOrderOfTheirTimes() throws Exception {
        engine.schedule(Duration.ofMillis(2_500), () -> ran.add("third"));
        engine.schedule(Duration.ofMillis(200), () -> ran.add("first"));
        engine.schedule(Duration.ofSeconds(1), () -> ran.add("second"));
        assertThat(List.of(next(), next(), next())).containsExactly("first", "second", "third");
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
        engine.schedule(delay, () -> ran.add("cancelled")).cancel();
        CountDownLatch go = new CountDownLatch(1);
        hold(go);
        Timer due = engine.schedule(delay, () -> ran.add("cancelled by a task"));
        engine.execute(due::cancel); // given before it is due, so it is in time, however late it runs
        letPass(delay);
        go.countDown();
        engine.execute(() -> ran.add("last"));
        assertThat(next()).isEqualTo("last");
    }

    @Test
    void dueTimer_waitsForTasksGivenBeforeAndForNoOthers() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        hold(go);
        engine.execute(() -> ran.add("before"));
        engine.schedule(Duration.ofMillis(20), () -> ran.add("due"));
        letPass(Duration.ofMillis(40));
        engine.execute(() -> ran.add("after"));
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
            engine.execute(many);
        } else {
            many.run();
        }
        awaitTasksSoFar();
        spinUntil(() -> {
            System.gc();
            return first.get().get() == null;
        });
        engine.execute(() -> ran.add(engine.alarms()));
        assertThat(next()).isEqualTo(0);
    }

    // ---- The end.

    @Test
    void close_runsWhatWasGivenAndEndsTheThread() throws Exception {
        Thread thread = thread();
        CountDownLatch go = new CountDownLatch(1);
        hold(go);
        engine.execute(() -> {
            ran.add("given before");
            engine.execute(() -> ran.add("given by a task after"));
        });
        engine.schedule(Duration.ZERO, engine::close);
        engine.close();
        engine.execute(() -> ran.add("given after"));
        engine.schedule(Duration.ZERO, () -> ran.add("timer after"));
        go.countDown();
        thread.join(TimeUnit.SECONDS.toMillis(30));
        assertThat(thread.isAlive()).isFalse();
        engine.execute(() -> ran.add("given long after"));
        engine.schedule(Duration.ZERO, () -> ran.add("timer long after")).cancel();
        engine.close();
        assertThat(ran).containsExactly("given before");
    }

    @Test
    void closeDoesNotWaitForTimers() throws Exception {
        Thread thread = thread();
        engine.schedule(HOUR, () -> ran.add("timer"));
        engine.close();
        thread.join(TimeUnit.SECONDS.toMillis(30));
        assertThat(thread.isAlive()).isFalse();
        assertThat(ran).isEmpty();
    }
}
