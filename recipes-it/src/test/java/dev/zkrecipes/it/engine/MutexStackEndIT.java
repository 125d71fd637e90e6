// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.Soon;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.contract.Remains;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A thread that asks for a lock at the end of its stack, at every depth from which that fails. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@WithZooKeeper
@Tag("H79")
class MutexStackEndIT {
    private static final int DIVES = 7;
    private static final long STACK = 512 * 1024;

    private final String path = "/stack/" + UUID.randomUUID();
    private EmbeddedZooKeeper server;
    private ZooKeeperClient client;
    private InterProcessMutex mutex;

    private enum Way {
        ACQUIRE {
            @Override
            @Nullable
            Lease ask(InterProcessLock lock) throws InterruptedException {
                return lock.acquire();
            }
        },
        TIMED {
            @Override
            @Nullable
            Lease ask(InterProcessLock lock) throws InterruptedException {
                return lock.tryAcquire(Duration.ofSeconds(20)).orElse(null);
            }
        },
        TRY {
            @Override
            @Nullable
            Lease ask(InterProcessLock lock) {
                return lock.tryAcquire().orElse(null);
            }
        },
        ASYNC {
            @Override
            @Nullable
            Lease ask(InterProcessLock lock) {
                CompletableFuture<Lease> wanted = lock.acquireAsync();
                return wanted.join();
            }
        };

        abstract @Nullable Lease ask(InterProcessLock lock) throws InterruptedException;
    }

    /** Goes to the end of the stack, and asks on the way back, from each frame, until it is granted. */
    private static final class Dive {
        private final InterProcessLock lock;
        private final Way way;
        private final int every;
        private int deaths;
        private @Nullable Lease lease;
        private @Nullable Throwable failure;

        Dive(InterProcessLock lock, Way way, int every) {
            this.lock = lock;
            this.way = way;
            this.every = every;
        }

        @SuppressWarnings("InfiniteRecursion") // down to the end of the stack
        private int down() {
            int fromEnd;
            try {
                fromEnd = down() + 1;
            } catch (StackOverflowError e) {
                fromEnd = 0;
            }
            if (lease == null && failure == null && fromEnd % every == 0) {
                ask();
            }
            return fromEnd;
        }

        private void ask() {
            try {
                lease = way.ask(lock);
            } catch (StackOverflowError e) {
                deaths++;
            } catch (Throwable t) {
                failure = t;
            }
        }
    }

    @BeforeEach
    void connect(EmbeddedZooKeeper started) throws InterruptedException {
        server = started;
        client = ZooKeeperClient.builder()
                .connectString(server.connectString())
                .sessionTimeout(Duration.ofSeconds(60))
                .build();
        mutex = new InterProcessMutex(client, path);
        for (Way way : Way.values()) {
            Lease lease = way.ask(mutex);
            assertThat(lease).isNotNull();
            lease.close();
        }
    }

    @AfterEach
    void close() {
        client.close();
    }

    @ParameterizedTest
    @EnumSource
    void requestAtTheEndOfTheStack_isGrantedOrLeavesNothing(Way way) throws Exception {
        for (int i = 0; i < DIVES; i++) {
            Dive dive = new Dive(mutex, way, 1 + i);
            Thread diver = new Thread(
                    null,
                    () -> {
                        dive.down();
                        if (dive.lease != null) {
                            dive.lease.close();
                        }
                    },
                    "diver",
                    STACK);
            diver.start();
            diver.join(30_000);
            assertThat(diver.isAlive()).as("the diver hangs").isFalse();
            assertThat(dive.failure).isNull();
            assertThat(dive.deaths).isPositive();
            assertThat(dive.lease).as("the lease that was granted in the end").isNotNull();
            Soon.await().untilAsserted(() -> {
                assertThat(server.children(path)).isEmpty();
                assertThat(Remains.of(client)).isEmpty();
            });
        }
    }
}
