// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.thread;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.Uninterruptibles;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A thread that gives a task at the very end of its stack hurts nobody, and knows whether the task was given. */
@Timeout(120)
@Tag("H79")
class DyingProducerTest {
    private static final int DIVES = 12;

    /** It never wakes up by itself, so a wake-up that is lost is a test that fails. */
    private final EngineThread engine = new EngineThread(Duration.ofHours(1).toNanos());

    @AfterEach
    void end() {
        engine.close();
    }

    @Test
    void taskIsGivenOrRefused_neverBoth_andTheEngineContinues() throws Exception {
        check(Diver::execute, DyingProducerTest::onThreadOfItsOwn, DIVES);
    }

    @Test
    void alarmIsSetOrRefused_neverBoth_andTheEngineContinues() throws Exception {
        check(Diver::schedule, DyingProducerTest::onThreadOfItsOwn, DIVES);
    }

    /** A driver that calls itself without end, say. */
    @Test
    void alarmIsSetOrRefused_neverBoth_onTheEngineThreadToo() throws Exception {
        check(Diver::schedule, EngineThread::execute, DIVES / 3);
    }

    @Test
    void alarmIsCalledOffOrNot_neverInPart_onTheEngineThread() throws Exception {
        for (int dive = 0; dive < DIVES / 3; dive++) {
            Diver diver = new Diver(engine, (self, task) -> task.timer.cancel());
            // Those at the front first, so that others have to move a long way.
            diver.tasks.forEach(task -> task.timer = engine.schedule(Duration.ofHours(1), task));
            int extra = dive;
            CompletableFuture<Integer> left = new CompletableFuture<>();
            engine.execute(() -> {
                diver.start(extra);
                left.complete(engine.alarms());
                diver.tasks.forEach(task -> task.timer.cancel());
            });
            assertThat(left.get(20, TimeUnit.SECONDS))
                    .isGreaterThan(diver.untried())
                    .isEqualTo(diver.refused() + diver.untried());
        }
        CompletableFuture<Integer> left = new CompletableFuture<>();
        engine.execute(() -> left.complete(engine.alarms()));
        assertThat(left.get(20, TimeUnit.SECONDS)).isZero();
    }

    private static void onThreadOfItsOwn(EngineThread engine, Runnable dive) {
        Thread thread = new Thread(null, dive, "diver", 256 * 1024);
        thread.start();
        Uninterruptibles.joinUninterruptibly(thread);
    }

    private interface Way {
        void give(Diver diver, Task task);
    }

    private void check(Way way, BiConsumer<EngineThread, Runnable> where, int dives) throws InterruptedException {
        List<Diver> divers = new ArrayList<>();
        for (int dive = 0; dive < dives; dive++) {
            Diver diver = new Diver(engine, way);
            int extra = dive;
            divers.add(diver);
            where.accept(engine, () -> diver.start(extra));
            CountDownLatch reached = new CountDownLatch(1);
            engine.execute(() -> engine.schedule(Duration.ZERO, reached::countDown));
            assertThat(reached.await(20, TimeUnit.SECONDS))
                    .as("the engine goes on after dive %s", dive)
                    .isTrue();
        }
        assertThat(divers).allMatch(diver -> diver.given == Diver.ENOUGH && diver.refused() > 0);
        List<Task> tasks =
                divers.stream().flatMap(diver -> diver.tasks.stream()).toList();
        assertThat(tasks).noneMatch(task -> task.refused && task.ran);
        assertThat(tasks).noneMatch(task -> task.given && !task.ran);
    }

    private static final class Task implements Runnable {
        private EngineScheduler.Timer timer = () -> {};
        private boolean given;
        private boolean refused;
        private volatile boolean ran;

        @Override
        public void run() {
            ran = true;
        }
    }

    /** Goes down to the end of its stack, and on its way up gives a task at each depth. */
    private static final class Diver {
        private static final int TASKS = 2000; // compiled frames are small: it is a long way up to where there is room
        private static final int ENOUGH = 10;

        private final EngineScheduler engine;
        private final Way way;
        private final List<Task> tasks = new ArrayList<>();
        private int next;
        private int given;

        Diver(EngineScheduler engine, Way way) {
            this.engine = engine;
            this.way = way;
            for (int i = 0; i < TASKS; i++) {
                tasks.add(new Task());
            }
        }

        int refused() {
            return (int) tasks.stream().filter(task -> task.refused).count();
        }

        int untried() {
            return tasks.size() - next;
        }

        void execute(Task task) {
            engine.execute(task);
        }

        void schedule(Task task) {
            engine.schedule(Duration.ZERO, task);
        }

        /** Begins elsewhere each time, so that the stack ends at another instruction. */
        void start(int extra) {
            if (extra % 3 != 0) {
                start(extra - 1);
            } else if (extra > 0) {
                start(extra - 1, extra, extra);
            } else {
                dive();
            }
        }

        private void start(int extra, long unused, long unusedToo) {
            start(extra);
        }

        @SuppressWarnings("InfiniteRecursion") // that is what it is for
        private void dive() {
            try {
                dive();
            } catch (StackOverflowError e) {
                // the end of the stack
            }
            if (given < ENOUGH && next < tasks.size()) {
                Task task = tasks.get(next);
                try {
                    next++;
                    way.give(this, task);
                    task.given = true;
                    given++;
                } catch (VirtualMachineError e) { // a call that is linked there fails with an InternalError
                    task.refused = true;
                }
            }
        }
    }
}
