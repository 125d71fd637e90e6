// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.run;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.FifoDriver;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;

/**
 * What is counted, in {@link CountingLoader}: an acquire and a release that nobody disturbs, and a wait behind another
 * client.
 */
final class Run {
    private static final int WARM_UP = 20;
    private static final long QUIET_MILLIS = 15;
    private static final long QUIET_MILLIS_OF_A_WAIT = 60;

    private Run() {}

    static void run(String connectString, int rounds) throws Exception {
        try (ZooKeeperClient one = connect(connectString);
                ZooKeeperClient two = connect(connectString)) {
            InterProcessLock mine = lock(one);
            InterProcessLock other = lock(two);
            for (int i = 0; i < WARM_UP; i++) {
                mine.acquire().close();
                other.acquire().close();
            }
            for (int i = 0; i < rounds; i++) {
                Lease lease = Tally.count("acquire", QUIET_MILLIS, mine::acquire);
                Tally.count("release", QUIET_MILLIS, closing(lease));
                mine.acquire().close(); // from here on, mine knows the queue
                Lease known = Tally.count("acquire on a known queue", QUIET_MILLIS, mine::acquire);
                known.close();
                Lease held = other.acquire();
                FutureTask<Void> waiter =
                        new FutureTask<>(() -> closing(mine.acquire()).call());
                Tally.count("wait", QUIET_MILLIS_OF_A_WAIT, () -> start(waiter));
                held.close();
                waiter.get();
            }
        }
    }

    private static ZooKeeperClient connect(String connectString) throws InterruptedException {
        ZooKeeperClient client = ZooKeeperClient.builder()
                .connectString(connectString)
                .sessionTimeout(Duration.ofHours(1))
                .build();
        client.awaitConnected(Duration.ofMinutes(1));
        return client;
    }

    private static InterProcessLock lock(ZooKeeperClient client) {
        return new LockInternals(client, "/locks/a", new Telling(), LockOptions.defaults()).threadOwned();
    }

    private static Callable<Void> closing(Lease lease) {
        return () -> {
            lease.close();
            return null;
        };
    }

    private static Void start(FutureTask<?> waiter) throws InterruptedException {
        CountDownLatch started = new CountDownLatch(1);
        Thread thread = new Thread(() -> {
            started.countDown();
            waiter.run();
        });
        thread.setDaemon(true);
        thread.start();
        started.await();
        return null;
    }

    /** Lets those who come first have the lock first, and tells how often and how deep it is asked. */
    private record Telling() implements FifoDriver {
        @Override
        public String nodeName() {
            return "lock-";
        }

        @Override
        public Optional<LockNode> parse(String child) {
            return LockNode.parse(child, nodeName());
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            Tally.ask(new Throwable().getStackTrace().length - 1);
            return Decision.grantedIfFirst(predecessors);
        }
    }
}
