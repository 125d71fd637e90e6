// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import static dev.zkrecipes.test.internal.Soon.await;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;

/**
 * Many threads of several clients that take locks at random: they wait, try, or leave the queue before their turn. A lost
 * wake-up leaves a thread waiting, and the failure names it.
 */
final class Load {
    private static final int CLIENTS = 4;
    private static final int THREADS = 4;
    private static final int ROUNDS = 60;

    /** What a thread does once. */
    @FunctionalInterface
    interface Round {
        /** Asks for one lock, by {@link #acquire}. */
        void run(ZooKeeperClient client, Random random) throws Exception;
    }

    private Load() {}

    /** Runs all rounds; afterwards no request waits, and no node and no watch is left. */
    static void run(EmbeddedZooKeeper server, String path, Round round) throws Exception {
        long seed = Long.getLong("zkrecipes.seed", System.nanoTime());
        System.out.println(path + ": replay with -Dzkrecipes.seed=" + seed);
        try (Clients clients = Clients.connect(server, CLIENTS);
                Workers workers = new Workers()) {
            for (int i = 0; i < CLIENTS * THREADS; i++) {
                ZooKeeperClient client = clients.get(i % CLIENTS);
                Random random = new Random(seed * 31 + i);
                workers.start("contender-" + i, () -> {
                    for (int done = 0; done < ROUNDS; done++) {
                        round.run(client, random);
                    }
                });
            }
            workers.join(Duration.ofSeconds(60));
            await().until(() -> server.children(path).isEmpty() && server.watchCount() == 0);
        }
    }

    /** Asks in one of three ways, mostly without a time limit. */
    static Optional<Lease> acquire(InterProcessLock lock, Random random) throws InterruptedException {
        try {
            return switch (random.nextInt(6)) {
                case 0 -> lock.tryAcquire();
                case 1 -> lock.tryAcquire(Duration.ofMillis(random.nextInt(20)));
                default -> Optional.of(lock.acquire());
            };
        } catch (LockConnectionException e) {
            return Optional.empty(); // the time was too short to see the lock
        }
    }
}
