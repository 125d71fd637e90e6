// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.schedules;

import static dev.zkrecipes.schedules.PlayScene.PATH;
import static dev.zkrecipes.schedules.PlayScene.check;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.thread.Callbacks;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Plays of what a client does beside its locks. */
final class Clients {
    static final List<Play> ALL = List.of(
            new Play("client-close-against-dependant", Clients::dependant),
            new Play("client-close-against-two-questions", Clients::questions),
            new Play("connection-states-in-order", Clients::states),
            new Play("callback-that-is-refused-and-run", Clients::callbackOnce));

    private Clients() {}

    /** What stands on a client is told of its close, before a lease is lost; or it is refused. */
    private static void dependant(PlayScene scene) throws InterruptedException, ExecutionException {
        ZooKeeperClient client = scene.client();
        LockInternals engine = new LockInternals(client, PATH, new MutexDriver(), LockOptions.defaults());
        Lease held = new InterProcessMutex(client, PATH).acquireAsync().get();
        AtomicInteger told = new AtomicInteger();
        AtomicBoolean isRefused = new AtomicBoolean();
        scene.start(
                "stands on it",
                () -> isRefused.set(PlayScene.endsAs(
                        ClientClosedException.class,
                        () -> engine.endBeforeClient(() -> {
                            told.addAndGet(held.state() == LeaseState.LOST ? 100 : 1);
                            return CompletableFuture.completedFuture(null);
                        }))));
        scene.start("closes the client", client::close);
        scene.joinAll();
        check(isRefused.get() ? told.get() <= 1 : told.get() == 1, "refused " + isRefused + ", told " + told);
    }

    /** The close of a client ends each wait for an answer at once. */
    private static void questions(PlayScene scene) throws InterruptedException, ExecutionException {
        ZooKeeperClient client = scene.client();
        Lease held = new InterProcessMutex(client, PATH).acquireAsync().get();
        InterProcessMutex mutex = new InterProcessMutex(client, PATH);
        scene.expire();
        scene.closingTakesTime();
        for (int i = 0; i < 2; i++) {
            scene.start("asks " + i, () -> PlayScene.endsAs(LockException.class, mutex::participants));
        }
        scene.start("closes the client", client::close);
        scene.joinAll();
        PlayScene.expectOneEnd(held);
    }

    /** A listener hears of changes one at a time, in order, and last of the close. */
    private static void states(PlayScene scene) throws InterruptedException, ExecutionException {
        ZooKeeperClient client = scene.client();
        List<ConnectionState> heard = new CopyOnWriteArrayList<>();
        AtomicInteger inside = new AtomicInteger();
        CompletableFuture<Void> closed = new CompletableFuture<>();
        AtomicBoolean isRight = new AtomicBoolean(true);
        client.addConnectionListener(state -> {
            isRight.compareAndSet(true, inside.getAndIncrement() == 0);
            heard.add(state);
            inside.decrementAndGet();
            if (state == ConnectionState.CLOSED) {
                closed.complete(null);
            }
        });
        scene.start("ends the session", scene::expire);
        scene.start("closes the client", client::close);
        scene.closingTakesTime();
        scene.joinAll();
        closed.get();
        check(isRight.get(), "two calls at a time: " + heard);
        check(heard.indexOf(ConnectionState.CLOSED) == heard.size() - 1, "not closed at last: " + heard);
        for (int i = 1; i < heard.size(); i++) {
            check(heard.get(i) != heard.get(i - 1), "told twice: " + heard);
        }
    }

    /** An executor runs a callback, and then throws as if it had refused it. */
    private static void callbackOnce(PlayScene scene) throws InterruptedException {
        RealEngine engine = new RealEngine(1);
        AtomicInteger ran = new AtomicInteger();
        Callbacks callbacks = Callbacks.on(
                task -> {
                    scene.start("callback", task::run);
                    throw new RejectedExecutionException();
                },
                null,
                engine);
        callbacks.run(ran::incrementAndGet);
        scene.joinAll();
        TimeUnit.MILLISECONDS.sleep(10); // until no thread can run
        check(ran.get() == 1, "it ran " + ran + " times");
        engine.execute(callbacks::close);
        engine.close();
    }
}
