// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.schedules;

import static dev.zkrecipes.schedules.PlayScene.check;

import dev.zkrecipes.core.internal.thread.EngineExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Plays of the engine's executor without any lock. */
final class EngineAlone {
    static final List<Play> ALL = List.of(
            new Play("engine-runs-each-task-once", EngineAlone::eachTaskOnce),
            new Play("engine-runs-what-is-handed-over", EngineAlone::handedOver),
            new Play("engine-runs-alarms", EngineAlone::alarms),
            new Play("engine-drops-what-follows-its-close", EngineAlone::closed));

    private EngineAlone() {}

    /** Records the order in which the tasks of a few threads run, and checks it. */
    private static final class Log {
        private final AtomicReference<@Nullable Thread> running = new AtomicReference<>();
        // Not synchronized, because the tasks check that only one of them runs at a time.
        private final List<Integer> ran = new ArrayList<>();

        Runnable task(int number) {
            return () -> {
                check(running.compareAndSet(null, Thread.currentThread()), "two tasks run at the same time");
                ran.add(number);
                running.set(null);
            };
        }

        void expect(int tasks) {
            check(ran.size() == tasks, "of " + tasks + " tasks these ran: " + ran);
            for (int number : ran) {
                int before = ran.indexOf(number - 1);
                check(number % 10 == 0 || (before >= 0 && before < ran.indexOf(number)), "out of order: " + ran);
            }
        }
    }

    private static void end(EngineExecutor engine) throws InterruptedException, ExecutionException {
        CompletableFuture<Void> last = new CompletableFuture<>();
        engine.execute(() -> last.complete(null));
        last.get();
        engine.close();
    }

    private static void eachTaskOnce(PlayScene scene) throws InterruptedException, ExecutionException {
        EngineExecutor engine = new EngineExecutor(false);
        Log log = new Log();
        for (int first = 0; first <= 20; first += 10) {
            int number = first;
            scene.start("giver " + first, () -> {
                engine.execute(log.task(number));
                engine.execute(log.task(number + 1));
            });
        }
        scene.joinAll();
        end(engine);
        log.expect(6);
    }

    private static void handedOver(PlayScene scene) throws InterruptedException, ExecutionException {
        EngineExecutor engine = new EngineExecutor(false);
        Log log = new Log();
        scene.start("giver", () -> {
            engine.execute(log.task(0));
            engine.execute(log.task(1));
        });
        scene.start("event thread", () -> {
            engine.handOver(log.task(10));
            engine.execute(log.task(11));
        });
        scene.start("another event thread", () -> {
            engine.execute(log.task(20));
            engine.execute(log.task(21));
        });
        scene.joinAll();
        end(engine);
        log.expect(6);
    }

    private static void alarms(PlayScene scene) throws InterruptedException, ExecutionException {
        EngineExecutor engine = new EngineExecutor(false);
        Log log = new Log();
        CompletableFuture<Void> rung = new CompletableFuture<>();
        scene.start(
                "sets",
                () -> engine.schedule(Duration.ofNanos(300_000), () -> {
                    log.task(0).run();
                    rung.complete(null);
                }));
        scene.start(
                "sets and calls off",
                () -> engine.schedule(Duration.ofSeconds(9), log.task(10)).cancel());
        scene.start("runs others", () -> engine.execute(log.task(20)));
        rung.get();
        scene.joinAll();
        end(engine);
        log.expect(2);
    }

    private static void closed(PlayScene scene) throws InterruptedException, ExecutionException {
        EngineExecutor engine = new EngineExecutor(false);
        Log log = new Log();
        CompletableFuture<Thread> own = new CompletableFuture<>();
        engine.handOver(() -> own.complete(Thread.currentThread()));
        Thread thread = own.get();
        engine.close();
        engine.execute(log.task(0)); // while the engine ends, or later
        thread.join();
        log.expect(0);
    }
}
