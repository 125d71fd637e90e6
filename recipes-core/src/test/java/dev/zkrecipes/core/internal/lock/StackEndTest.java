// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.PortClientBuilder;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What becomes of a lease that a thread closes at the end of its stack. */
@Tag("H79")
class StackEndTest {
    private static final int DIVES = 100;
    private static final long STACK = 200 * 1024;

    private final ManualScheduler scheduler = new ManualScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler);
    private final ZooKeeperClient client = PortClientBuilder.on(listener -> operations, scheduler)
            .callbackExecutor(Runnable::run)
            .build();
    private final InterProcessLock lock =
            new LockInternals(client, "/locks/orders", new MutexDriver(), LockOptions.defaults()).instanceOwned();

    /** Goes to the end of the stack, and does something on the way back, some frames from there. */
    private static final class Dive {
        private int framesFromEnd;
        private int deaths;

        @SuppressWarnings("InfiniteRecursion") // down to the end of the stack
        void down(Lease lease, Consumer<Lease> what) {
            try {
                down(lease, what);
            } catch (StackOverflowError e) {
                if (framesFromEnd-- > 0) {
                    throw e;
                }
                try {
                    what.accept(lease);
                } catch (StackOverflowError again) {
                    deaths++;
                }
            }
        }

        void run(int fromEnd, Lease lease, Consumer<Lease> what) throws InterruptedException {
            framesFromEnd = fromEnd;
            Thread diver = new Thread(null, () -> down(lease, what), "diver", STACK);
            diver.start();
            diver.join();
        }
    }

    private Lease acquired() {
        CompletableFuture<Lease> wanted = lock.acquireAsync();
        scheduler.run();
        return wanted.join();
    }

    private static void beginClosing(Lease lease) {
        var unused = lease.closeAsync();
    }

    private void end(Lease lease) {
        beginClosing(lease);
        scheduler.run();
        assertThat(operations.nodes()).isEmpty();
    }

    @Test
    void leaseClosedThere_isGivenBackOrCanBeClosedAgain() throws InterruptedException {
        end(acquired());
        int deaths = 0;
        for (int i = 0; i < DIVES; i++) {
            Lease lease = acquired();
            Dive dive = new Dive();
            dive.run(2 * i, lease, StackEndTest::beginClosing);
            deaths += dive.deaths;
            end(lease);
            assertThat(lease.closeAsync()).isCompleted();
        }
        assertThat(deaths).isPositive();
    }
}
