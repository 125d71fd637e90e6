// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.handoff.HandoffMutex;
import dev.zkrecipes.leader.LeaderElection;
import dev.zkrecipes.leader.LeaderListener;
import dev.zkrecipes.leader.Term;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A lease that is closed at the end of the stack: its node goes, or the client ends. */
@Tag("H136")
class EndOfStackIT extends ServerStage {
    private static final int DEPTHS = 40;
    private static final Duration SESSION = Duration.ofSeconds(10);

    enum Kind {
        MUTEX {
            @Override
            InterProcessLock lock(ZooKeeperClient client, String path) {
                return new InterProcessMutex(client, path);
            }
        },
        MULTI_LOCK {
            @Override
            InterProcessLock lock(ZooKeeperClient client, String path) {
                return new InterProcessMultiLock(client, List.of(path, path + "-other"));
            }
        },
        HANDOFF {
            @Override
            InterProcessLock lock(ZooKeeperClient client, String path) {
                return new HandoffMutex(client, path, 5);
            }
        };

        abstract InterProcessLock lock(ZooKeeperClient client, String path);
    }

    /** Calls this on the way back from the end of the stack, so many frames before it. */
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
            } catch (StackOverflowError end) {
                // what the caller is told
            }
        }
        return deeper + 1;
    }

    private ZooKeeperClient fresh() throws InterruptedException {
        return client(settings().sessionTimeout(SESSION).requestTimeout(Duration.ofMinutes(1)));
    }

    /** Whether the client has ended itself, as it is to do if it cannot finish what it was doing. */
    private static boolean hasEnded(ZooKeeperClient client) throws InterruptedException {
        try {
            assertThat(new InterProcessMutex(client, "/any").participants()).isEmpty();
            return false;
        } catch (ClientClosedException e) {
            return true;
        }
    }

    @ParameterizedTest
    @EnumSource
    void leaseClosedAtTheEndOfTheStack_leavesNoNodeWithALivingClient(Kind kind) throws InterruptedException {
        int ended = 0;
        ZooKeeperClient client = fresh();
        for (int frames = 0; frames < DEPTHS; frames++) {
            String lockPath = path + "-" + frames;
            Lease lease = closedNearTheEnd(frames, kind.lock(client, lockPath));
            // A machine that stands still for seconds suspends a lease.
            Soon.await().until(() -> lease.state() != LeaseState.SUSPENDED);
            if (lease.state() == LeaseState.HELD) {
                lease.close(); // the end came before the close began: it is open, and says so
            }
            awaitNodes(lockPath, 0);
            assertThat(lease.isValid()).as("at %s", frames).isFalse();
            if (hasEnded(client)) {
                ended++;
                client = fresh();
            }
        }
        assertThat(ended).as("clients that ended themselves, of %s", DEPTHS).isLessThan(DEPTHS);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void leadershipGivenBackAtTheEndOfTheStack_leavesNoNodeWithALivingClient(boolean hasListener)
            throws InterruptedException {
        for (int frames = 0; frames < 3 * DEPTHS; frames += 4) {
            try (ZooKeeperClient client = TestClients.connect(settings().sessionTimeout(SESSION))) {
                String lockPath = path + "-" + frames;
                LeaderElection election = new LeaderElection(client, lockPath);
                if (hasListener) {
                    election.addListener(new LeaderListener() {
                        @Override
                        public void termBegan(Term term) {}

                        @Override
                        public void termEnded(Term term) {}
                    });
                }
                election.join();
                assertThat(election.awaitLeadership(Duration.ofMinutes(1))).isPresent();
                int here = frames;
                Thread leaving = new Thread(null, () -> dive(here, election::leave), "at the end", 1 << 18);
                leaving.start();
                leaving.join();
                election.leave(); // the end may have come before it had begun
                awaitNodes(lockPath, 0);
                assertThat(election.isLeader()).as("at %s", frames).isFalse();
            }
        }
    }

    /** The thread has ended then, so any thread may close it. */
    private static Lease closedNearTheEnd(int frames, InterProcessLock lock) throws InterruptedException {
        CompletableFuture<Lease> taken = new CompletableFuture<>();
        Thread holder = new Thread(
                null,
                () -> {
                    try {
                        taken.complete(lock.acquire());
                    } catch (InterruptedException | RuntimeException e) {
                        taken.completeExceptionally(e);
                    }
                    dive(frames, taken.join()::close);
                },
                "at the end",
                1 << 18);
        holder.start();
        holder.join();
        return taken.join();
    }
}
