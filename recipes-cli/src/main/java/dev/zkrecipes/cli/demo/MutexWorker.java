// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import dev.zkrecipes.cli.demo.CounterFile.Counter;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;

/** Increments the counter file under the mutex, again and again. */
final class MutexWorker implements WorkerBody {
    /** The demo kills an idling worker long before that. */
    private static final Duration IDLE = Duration.ofMinutes(1);

    @Override
    public void run(ZooKeeperClient client, String lockPath, Path folder, Orders orders, Reporter reporter)
            throws InterruptedException, IOException {
        InterProcessMutex mutex = new InterProcessMutex(client, lockPath);
        CounterFile file = new CounterFile(folder);
        while (!orders.isStopped()) {
            reporter.say(Event.Kind.WAITING, Map.of());
            long asked = System.nanoTime();
            try (Lease lease = orders.interruptibly(mutex::acquire)) {
                increment(file, lease, System.nanoTime() - asked, orders, reporter);
            }
            orders.pause(randomMillis(5, 45));
        }
    }

    private static void increment(CounterFile file, Lease lease, long waited, Orders orders, Reporter reporter)
            throws InterruptedException, IOException {
        long token;
        try {
            token = lease.fencingToken();
        } catch (LockLostException e) {
            reporter.say(Event.Kind.LOST, Map.of());
            return;
        }
        reporter.say(Event.Kind.GRANTED, Map.of("token", token, "waited", waited));
        // Before it writes, so that a kill here leaves no increment in doubt.
        if (orders.takeIdle()) {
            reporter.say(Event.Kind.IDLING, Map.of("token", token));
            orders.pause(IDLE);
        }
        Counter found = file.read();
        if (ThreadLocalRandom.current().nextInt(3) == 0) {
            orders.pause(randomMillis(2, 15));
        }
        if (!lease.isValid()) {
            reporter.say(Event.Kind.LOST, Map.of());
            return;
        }
        Counter written = found.next(token);
        file.write(written);
        reporter.say(Event.Kind.INCREMENTED, Map.of("token", token, "value", written.value(), "found", found.token()));
        reporter.say(Event.Kind.RELEASING, Map.of());
    }

    private static Duration randomMillis(int least, int most) {
        return Duration.ofMillis(ThreadLocalRandom.current().nextInt(least, most + 1));
    }
}
