// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.hold;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.PrintedWhile;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.spi.LockGroups;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.Ports;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A lock acquired once more at the end of the stack: the caller has the lease, or nobody has, or the client ends. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Tag("H136")
class EndOfStackTest {
    private final ManualScheduler scheduler = new ManualScheduler();
    private @Nullable Optional<Lease> again;

    private ZooKeeperClient client() {
        ScriptedOperations operations = new ScriptedOperations(scheduler);
        return Ports.clientBuilder(states -> operations, scheduler)
                .callbackExecutor(Runnable::run)
                .build();
    }

    private static InterProcessLock lock(ZooKeeperClient client, String path) {
        return new LockInternals(client, path, new MutexDriver(), LockOptions.defaults()).threadOwned();
    }

    /** Runs this on the way back from the end of the stack, so many frames before it. */
    private static int dive(int frames, Runnable action) {
        int deeper;
        try {
            deeper = dive(frames, action);
        } catch (StackOverflowError end) {
            return 0;
        }
        if (deeper == frames) {
            try {
                action.run();
            } catch (VirtualMachineError end) {
                // what the caller is told
            }
        }
        return deeper + 1;
    }

    @Test
    void reentryAtTheEndOfTheStack_leavesNoHoldThatNobodyHas() throws InterruptedException {
        int taken = 0;
        for (int frames = 0; taken < 10; frames++) { // until it is far enough from the end
            again = null;
            ZooKeeperClient client = client();
            InterProcessLock both = LockGroups.together(
                    List.of(lock(client, "/locks/a"), lock(client, "/locks/b")), LockOptions.defaults());
            int holds = holdsAfterReentry(frames, both);
            PrintedWhile.running(() -> scheduler.advance(Duration.ofSeconds(1)));
            if (client.connectionState() != ConnectionState.CLOSED) {
                assertThat(holds).as("holds, at %s", frames).isEqualTo(again == null ? 1 : 2);
                taken += again == null ? 0 : 1;
            }
        }
    }

    private int holdsAfterReentry(int frames, InterProcessLock lock) throws InterruptedException {
        CompletableFuture<Integer> holds = new CompletableFuture<>();
        Thread holder = new Thread(
                null,
                () -> {
                    try {
                        ((Hold) lock.acquire()).letAnyThreadClose(); // then a re-entry takes another look at its grant
                        lock.tryAcquire().orElseThrow().close(); // loads classes, for which there is no stack later
                        dive(frames, () -> again = lock.tryAcquire());
                        holds.complete(lock.holdCount());
                    } catch (InterruptedException | RuntimeException | Error e) {
                        holds.completeExceptionally(e);
                    }
                },
                "at the end",
                1 << 18);
        holder.start();
        holder.join();
        return holds.join();
    }
}
