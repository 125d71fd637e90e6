// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.explore;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.QueueLossPolicy;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.explore.ChangingRule;
import dev.zkrecipes.explore.ExploredLock;
import dev.zkrecipes.explore.Rule;
import dev.zkrecipes.handoff.HandoffMutex;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.mutex.InterProcessSemaphoreMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/** The recipes, and what each promises. */
public enum RecipeToExplore {
    /** {@link InterProcessMutex}: one holder, and holds within holds. */
    MUTEX {
        @Override
        public ExploredLock lock() {
            return ExploredLock.of("mutex", ALONE, (client, path) -> List.of(new InterProcessMutex(client, path)))
                    .withNesting(0, 0);
        }
    },
    /** {@link InterProcessSemaphoreMutex}: one holder. */
    SEMAPHORE_MUTEX {
        @Override
        public ExploredLock lock() {
            return ExploredLock.of(
                    "semaphore mutex", ALONE, (client, path) -> List.of(new InterProcessSemaphoreMutex(client, path)));
        }
    },
    /** {@link InterProcessReadWriteLock}: readers together or one writer, and the downgrade. */
    RWLOCK {
        @Override
        public ExploredLock lock() {
            return ExploredLock.of(
                            "read-write lock",
                            READERS_OR_A_WRITER,
                            (client, path) -> modes(client, path, LockOptions.defaults()))
                    .withNesting(READ, READ)
                    .withNesting(WRITE, WRITE)
                    .withNesting(WRITE, READ);
        }
    },
    /** {@link InterProcessSemaphore}: no more permits than there are. */
    SEMAPHORE {
        @Override
        public ExploredLock lock() {
            return ExploredLock.of(
                    "semaphore", atMost(MAX_LEASES), (client, path) -> permits(client, path, LockOptions.defaults()));
        }
    },
    /** {@link InterProcessSemaphore} that any process resizes at any time. */
    SEMAPHORE_RESIZED {
        @Override
        public ExploredLock lock() {
            return ExploredLock.of(
                            "semaphore, resized",
                            atMost(MAX_LEASES),
                            (client, path) -> permits(client, path, LockOptions.defaults()))
                    .withChangingRule(LIMITS);
        }
    },
    /** {@link HandoffMutex} that passes on twice in a row, beside one in strict order. */
    MUTEX_HANDOFFS {
        @Override
        public ExploredLock lock() {
            return ExploredLock.of(
                            "mutex, passed on",
                            ALONE,
                            (client, path) -> bothOrders(client, path, LockOptions.defaults()))
                    .withLocalHandoffs(MUTEX_HANDOFFS_IN_A_ROW)
                    .withNesting(0, 0)
                    .withNesting(1, 1);
        }
    },
    /** {@link InterProcessMultiLock}: of mutexes, beside one of these alone. */
    MULTILOCK {
        @Override
        public ExploredLock lock() {
            return ExploredLock.of("multi-lock", ALONE, RecipeToExplore::together)
                    .withNesting(0, 0);
        }
    },
    /**
     * {@link InterProcessMultiLock}: of a mutex and of permits, whose path holds a rule, beside each of these alone.
     */
    MULTILOCK_MIXED {
        @Override
        public ExploredLock lock() {
            return ExploredLock.of("multi-lock of mutex and permits", ALONE_OR_AT_MOST, RecipeToExplore::mixed)
                    .withManyRequests();
        }
    },
    /** {@link InterProcessMutex}, through an object that gives back in the background and one that does not. */
    MUTEX_IN_BACKGROUND {
        @Override
        public ExploredLock lock() {
            return ExploredLock.of("mutex, released in the background", ALONE, RecipeToExplore::bothWays)
                    .withNesting(0, 0)
                    .withNesting(0, 1)
                    .withNesting(1, 0);
        }
    },
    /** {@link InterProcessReadWriteLock}, released in the background. */
    RWLOCK_IN_BACKGROUND {
        @Override
        public ExploredLock lock() {
            return ExploredLock.of(
                            "read-write lock, released in the background",
                            READERS_OR_A_WRITER,
                            (client, path) -> modes(client, path, BACKGROUND))
                    .withNesting(READ, READ)
                    .withNesting(WRITE, WRITE)
                    .withNesting(WRITE, READ);
        }
    },
    /** {@link InterProcessMutex} whose holders are asked to give it back. */
    MUTEX_REVOKED {
        @Override
        public ExploredLock lock() {
            return ExploredLock.of(
                            "mutex, revoked", ALONE, (client, path) -> List.of(new InterProcessMutex(client, path)))
                    .withNesting(0, 0)
                    .withRevocations();
        }
    },
    /** {@link InterProcessReadWriteLock} whose holders are asked to give it back. */
    RWLOCK_REVOKED {
        @Override
        public ExploredLock lock() {
            return ExploredLock.of(
                            "read-write lock, revoked",
                            READERS_OR_A_WRITER,
                            (client, path) -> modes(client, path, LockOptions.defaults()))
                    .withNesting(READ, READ)
                    .withNesting(WRITE, WRITE)
                    .withNesting(WRITE, READ)
                    .withRevocations();
        }
    },
    /** {@link HandoffMutex} whose holders are asked to give it back, beside a mutex in strict order. */
    MUTEX_HANDOFFS_REVOKED {
        @Override
        public ExploredLock lock() {
            return ExploredLock.of(
                            "mutex, passed on and revoked",
                            ALONE,
                            (client, path) -> bothOrders(client, path, LockOptions.defaults()))
                    .withLocalHandoffs(MUTEX_HANDOFFS_IN_A_ROW)
                    .withNesting(0, 0)
                    .withNesting(1, 1)
                    .withRevocations();
        }
    },
    /** {@link InterProcessMultiLock} whose holders are asked to give it back. */
    MULTILOCK_REVOKED {
        @Override
        public ExploredLock lock() {
            return ExploredLock.of("multi-lock, revoked", ALONE, RecipeToExplore::together)
                    .withNesting(0, 0)
                    .withRevocations();
        }
    },
    /** {@link HandoffMutex} that is held for a limited time, beside a mutex in strict order. */
    MUTEX_HELD_AT_MOST {
        @Override
        public ExploredLock lock() {
            LockOptions options = LockOptions.defaults().holdAtMost(LONGEST_HOLD);
            return ExploredLock.of(
                            "mutex, held for a limited time",
                            ALONE,
                            (client, path) -> bothOrders(client, path, options))
                    .withLocalHandoffs(MUTEX_HANDOFFS_IN_A_ROW)
                    .withHoldAtMost(LONGEST_HOLD)
                    .withNesting(0, 0)
                    .withNesting(1, 1);
        }
    },
    /** {@link InterProcessMutex} and {@link HandoffMutex}, whose waiters fail if they lose their place. */
    MUTEX_FAILING {
        @Override
        public ExploredLock lock() {
            LockOptions options = LockOptions.defaults().withQueueLossPolicy(QueueLossPolicy.FAIL);
            return ExploredLock.of(
                            "mutex whose waiters fail", ALONE, (client, path) -> bothOrders(client, path, options))
                    .withLocalHandoffs(MUTEX_HANDOFFS_IN_A_ROW)
                    .withPlacesLost()
                    .withNesting(0, 0)
                    .withNesting(1, 1);
        }
    };

    private static final LockOptions BACKGROUND = LockOptions.defaults().releaseInBackground();
    private static final Rule ALONE = (front, self) -> front.isEmpty();
    private static final Rule READERS_OR_A_WRITER =
            (front, self) -> self.equals("__READ__") ? !front.contains("__WRIT__") : front.isEmpty();
    private static final int READ = 0;
    private static final int WRITE = 1;
    private static final int MAX_LEASES = 3;
    private static final String MUTEX_KIND = "lock-";
    private static final Rule ALONE_OR_AT_MOST = (front, self) ->
            self.equals(MUTEX_KIND) ? front.isEmpty() : atMost(MAX_LEASES).mayHold(front, self);
    private static final String CURRENT = "current=";
    private static final ChangingRule LIMITS = new ChangingRule(
            data -> atMost(limit(data)),
            List.of("lease.1-", "lease.2-", "lease.3-"),
            List.of(resizeTo(1), resizeTo(2), resizeTo(MAX_LEASES), resizeTo(MAX_LEASES + 2)));
    private static final Duration LONGEST_HOLD = Duration.ofMillis(500);
    private static final int MUTEX_HANDOFFS_IN_A_ROW = 2;

    /**
     * The recipe and what it promises.
     *
     * @return a new description of it
     */
    public abstract ExploredLock lock();

    private static List<InterProcessLock> modes(ZooKeeperClient client, String path, LockOptions options) {
        InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, path, options);
        return List.of(lock.readLock(), lock.writeLock());
    }

    private static List<InterProcessLock> bothWays(ZooKeeperClient client, String path) {
        return List.of(new InterProcessMutex(client, path, BACKGROUND), new InterProcessMutex(client, path));
    }

    private static List<InterProcessLock> bothOrders(ZooKeeperClient client, String path, LockOptions options) {
        InterProcessLock passedOn = new HandoffMutex(client, path, MUTEX_HANDOFFS_IN_A_ROW, options);
        return List.of(passedOn, new InterProcessMutex(client, path, options), passedOn, passedOn);
    }

    private static List<InterProcessLock> permits(ZooKeeperClient client, String path, LockOptions options) {
        InterProcessSemaphore semaphore = new InterProcessSemaphore(client, path, MAX_LEASES, options);
        return List.of(semaphore.permits(1), semaphore.permits(2), semaphore.permits(MAX_LEASES));
    }

    private static Rule atMost(int limit) {
        return (front, self) ->
                front.stream().mapToInt(RecipeToExplore::permits).sum() + permits(self) <= limit;
    }

    /** As a semaphore's node says it, see docs/versions.md. */
    private static int limit(byte[] data) {
        return new String(data, StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.startsWith(CURRENT))
                .mapToInt(line -> Integer.parseInt(line.substring(CURRENT.length())))
                .findFirst()
                .orElseThrow();
    }

    private static ChangingRule.Change resizeTo(int limit) {
        return (client, path) -> new InterProcessSemaphore(client, path, MAX_LEASES).resize(limit);
    }

    /** Of a node called {@code lease.<permits>-}. */
    private static int permits(String kind) {
        return Integer.parseInt(kind.substring(kind.indexOf('.') + 1, kind.length() - 1));
    }

    private static List<InterProcessLock> together(ZooKeeperClient client, String path) {
        InterProcessLock x = new InterProcessMutex(client, path + "/x");
        InterProcessLock y = new InterProcessMutex(client, path + "/y");
        InterProcessLock z = new InterProcessMutex(client, path + "/z");
        return List.of(
                new InterProcessMultiLock(List.of(x, y)),
                new InterProcessMultiLock(List.of(y, x, z)),
                new InterProcessMultiLock(List.of(z, y)),
                x);
    }

    private static List<InterProcessLock> mixed(ZooKeeperClient client, String path) {
        InterProcessLock mutex = new InterProcessMutex(client, path + "/mutex");
        InterProcessSemaphore semaphore = new InterProcessSemaphore(client, path + "/semaphore", MAX_LEASES);
        return List.of(
                new InterProcessMultiLock(List.of(mutex, semaphore.permits(2))),
                mutex,
                new InterProcessMultiLock(List.of(semaphore.permits(MAX_LEASES), mutex)),
                semaphore.permits(1));
    }
}
