// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.test.Worker;
import dev.zkrecipes.test.Workers;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** One request for a lock, made by a thread of its own, which keeps what it gets until it is told to give it back. */
final class Request {
    private static final Duration LONG = Duration.ofSeconds(20);

    private final CompletableFuture<Outcome> outcome = new CompletableFuture<>();
    private final CountDownLatch wantedBack = new CountDownLatch(1);
    private final CompletableFuture<Void> givenBack = new CompletableFuture<>();
    private final Worker worker;

    private Request(Workers workers, Flavour flavour, InterProcessLock lock, Duration limit, boolean interrupted) {
        this.worker = workers.start(flavour.name(), () -> run(flavour, lock, limit, interrupted));
    }

    static Request of(Workers workers, Flavour flavour, InterProcessLock lock) {
        return new Request(workers, flavour, lock, LONG, false);
    }

    static Request limited(Workers workers, Flavour flavour, InterProcessLock lock, Duration limit) {
        return new Request(workers, flavour, lock, limit, false);
    }

    static Request interrupted(Workers workers, Flavour flavour, InterProcessLock lock) {
        return new Request(workers, flavour, lock, LONG, true);
    }

    Outcome outcome() throws Exception {
        return outcome.get(LONG.toSeconds(), TimeUnit.SECONDS);
    }

    boolean isDone() {
        return outcome.isDone();
    }

    void interrupt() {
        worker.interrupt();
    }

    void giveBack() throws Exception {
        wantedBack.countDown();
        givenBack.get(LONG.toSeconds(), TimeUnit.SECONDS);
    }

    private void run(Flavour flavour, InterProcessLock lock, Duration limit, boolean interrupted)
            throws InterruptedException {
        long begin = System.nanoTime();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        Optional<Runnable> hold;
        try {
            hold = flavour.ask(lock, limit);
        } catch (InterruptedException | RuntimeException e) {
            end(flavour, Outcome.Ending.FAILED, e, begin);
            return;
        }
        end(flavour, hold.isPresent() ? Outcome.Ending.GRANTED : Outcome.Ending.NOT_GRANTED, null, begin);
        if (hold.isPresent()) {
            wantedBack.await();
            giveBack(hold.get());
        }
    }

    private void end(Flavour flavour, Outcome.Ending ending, Throwable error, long begin) {
        Duration took = Duration.ofNanos(System.nanoTime() - begin);
        outcome.complete(new Outcome(flavour, ending, error, Thread.interrupted(), took));
    }

    private void giveBack(Runnable hold) {
        try {
            hold.run();
            givenBack.complete(null);
        } catch (RuntimeException e) {
            givenBack.completeExceptionally(e);
        }
    }
}
