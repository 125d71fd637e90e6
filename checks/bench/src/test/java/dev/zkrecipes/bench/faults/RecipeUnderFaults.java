// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import dev.zkrecipes.bench.contender.LockClient;
import dev.zkrecipes.bench.contender.Ours;
import dev.zkrecipes.bench.contender.Subject;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.leader.LeaderElection;
import dev.zkrecipes.leader.Term;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/** The recipes of this library. Their holders write carelessly. */
enum RecipeUnderFaults implements Subject {
    MUTEX {
        @Override
        LockClient.Turn take(ZooKeeperClient client, String path) throws InterruptedException {
            return Ours.turn(acquire(new InterProcessMutex(client, path)), path, false);
        }
    },
    /** Every other time for reading. */
    READ_WRITE_LOCK {
        @Override
        LockClient.Turn take(ZooKeeperClient client, String path) throws InterruptedException {
            InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, path);
            boolean isReader = ThreadLocalRandom.current().nextBoolean();
            return Ours.turn(acquire(isReader ? lock.readLock() : lock.writeLock()), path, isReader);
        }
    },
    SEMAPHORE {
        @Override
        LockClient.Turn take(ZooKeeperClient client, String path) throws InterruptedException {
            return Ours.turn(acquire(new InterProcessSemaphore(client, path, 1).permits(1)), path, false);
        }

        @Override
        public String pathData() {
            return "zkrecipes 1\nconfigured=1\ncurrent=1\n";
        }
    },
    /** A path and its neighbour, so that any two of them have one in common. */
    MULTI_LOCK {
        @Override
        LockClient.Turn take(ZooKeeperClient client, String path) throws InterruptedException {
            int number = Integer.parseInt(path.substring(path.lastIndexOf('/') + 1));
            String neighbour = FaultClient.Threads.path(this, (number + 1) % FaultClient.LOCKS);
            return Ours.turn(acquire(new InterProcessMultiLock(client, List.of(path, neighbour))), path, false);
        }
    },
    LEADERSHIP {
        @Override
        LockClient.Turn take(ZooKeeperClient client, String path) throws InterruptedException {
            LeaderElection election = new LeaderElection(client, path);
            try {
                election.join();
                Term term = election.awaitLeadership(Duration.ofHours(1)).orElseThrow();
                Op guard = term.guard();
                return new LockClient.Turn(
                        guard.getPath(), false, term.number(), List.of(guard), term::isValid, election);
            } catch (LockLostException e) {
                election.close();
                throw e;
            }
        }
    };

    abstract LockClient.Turn take(ZooKeeperClient client, String path) throws InterruptedException;

    /** By any of the ways to acquire. */
    private static Lease acquire(InterProcessLock lock) throws InterruptedException {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        while (true) {
            try {
                Optional<Lease> lease = switch (random.nextInt(6)) {
                    case 0 -> lock.tryAcquire();
                    case 1 -> lock.tryAcquire(Duration.ofMillis(random.nextInt(2_000)));
                    default -> Optional.of(lock.acquire());
                };
                if (lease.isPresent()) {
                    return lease.get();
                }
            } catch (LockConnectionException e) {
                // It tried, without a connection.
            }
        }
    }

    @Override
    public String title() {
        return name();
    }

    @Override
    public boolean isCareless() {
        return true;
    }

    @Override
    public LockClient connect(String connectString, Duration sessionTimeout) throws IOException {
        return new Client(this, connectString, sessionTimeout);
    }

    /**
     * Writes in a session of its own, which outlives that of the locks, so that only the guards protect the data from a
     * late write.
     */
    private static final class Client extends Ours {
        private static final int WRITING_MILLIS = 30_000;

        private final RecipeUnderFaults recipe;
        private final ZooKeeper writing;

        Client(RecipeUnderFaults recipe, String connectString, Duration sessionTimeout) throws IOException {
            super(connectString, sessionTimeout);
            this.recipe = recipe;
            writing = new ZooKeeper(connectString, WRITING_MILLIS, event -> {});
        }

        @Override
        public Turn acquire(String path) throws InterruptedException {
            while (true) {
                try {
                    return recipe.take(client(), path);
                } catch (LockLostException e) {
                    // Lost before anything was done under it.
                }
            }
        }

        @Override
        public ZooKeeper handle() {
            return writing;
        }

        @Override
        public void close() {
            super.close();
            try {
                writing.close();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
