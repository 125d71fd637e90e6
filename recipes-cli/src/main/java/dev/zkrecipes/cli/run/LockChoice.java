// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import java.util.List;

/**
 * Which lock is meant.
 *
 * @param mode the rule
 * @param paths one, or several to be acquired together
 * @param permits how many to take of a semaphore
 * @param limit how many a semaphore has
 */
record LockChoice(Mode mode, List<String> paths, int permits, int limit) {
    enum Mode {
        MUTEX("a mutex", "without -x, -s and --limit"),
        EXCLUSIVE("a read-write lock", "with -x or -s"),
        SHARED("a read-write lock", "with -x or -s"),
        SEMAPHORE("a semaphore", "with --limit"),
        LEADER("a leader election", "by zklock lead");

        final String noun;
        final String option;

        Mode(String noun, String option) {
            this.noun = noun;
            this.option = option;
        }

        /** Which of them makes nodes of a kind. */
        static Mode of(String kind) {
            return switch (kind) {
                case "lock-" -> MUTEX;
                case "__READ__" -> SHARED;
                case "__WRIT__" -> EXCLUSIVE;
                case "latch-" -> LEADER;
                default -> SEMAPHORE;
            };
        }
    }

    LockChoice {
        paths = List.copyOf(paths);
    }

    /** Whether a holder's node of a kind keeps every other session out. Permits may be left beside it. */
    boolean isKeptOutBy(String kind) {
        return mode == Mode.SHARED ? Mode.of(kind) != Mode.SHARED : mode != Mode.SEMAPHORE;
    }

    InterProcessLock on(ZooKeeperClient client) {
        List<InterProcessLock> members =
                paths.stream().map(path -> one(client, path)).toList();
        return members.size() == 1 ? members.get(0) : new InterProcessMultiLock(members);
    }

    private InterProcessLock one(ZooKeeperClient client, String path) {
        return switch (mode) {
            case EXCLUSIVE -> new InterProcessReadWriteLock(client, path).writeLock();
            case SHARED -> new InterProcessReadWriteLock(client, path).readLock();
            case MUTEX -> new InterProcessMutex(client, path);
            case SEMAPHORE -> new InterProcessSemaphore(client, path, limit).permits(permits);
            case LEADER -> new LockInternals(client, path, new MutexDriver("latch-"), LockOptions.defaults()).unowned();
        };
    }

    /** For messages. */
    @Override
    public String toString() {
        return String.join(",", paths);
    }
}
