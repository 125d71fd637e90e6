// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The lock that a command line names.
 *
 * @param mode the kind of lock, and the side of a read-write lock
 * @param paths the path; several paths for several locks that are acquired together
 * @param permits how many permits of a semaphore to take
 * @param limit how many permits a semaphore has
 */
record LockChoice(Mode mode, List<String> paths, int permits, int limit) {
    /** A kind of lock, with its name and the options that select it, for messages. */
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

        /**
         * Returns the mode that creates nodes with such a name; empty if only a driver or library unknown to zklock
         * does.
         */
        static Optional<Mode> ofNode(String name) {
            return LockNode.ofAnyKind(name).flatMap(node -> switch (node.kind()) {
                case "lock-" -> Optional.of(MUTEX);
                case "__READ__" -> Optional.of(SHARED);
                case "__WRIT__" -> Optional.of(EXCLUSIVE);
                case "latch-" -> Optional.of(LEADER);
                case "lease." -> Optional.of(SEMAPHORE);
                default -> Optional.empty();
            });
        }
    }

    LockChoice {
        paths = List.copyOf(paths);
    }

    /**
     * Whether this lock cannot be acquired as long as other zklocks hold it for their commands. The holders of a
     * semaphore may leave enough permits.
     *
     * @param by the node of one of them, or one that waits in front
     * @param taken the permits of all of them at the path
     * @param limits what {@link #limits} has returned
     */
    boolean isKeptOut(Participant by, int taken, Map<String, Integer> limits) {
        return switch (mode) {
            case SHARED -> !by.kind().equals("__READ__");
            case SEMAPHORE ->
                taken + (by.holding() ? permits : InterProcessSemaphore.permitsOf(by))
                        > limits.getOrDefault(by.path(), limit);
            case MUTEX, EXCLUSIVE, LEADER -> true;
        };
    }

    /** Asks how many permits each semaphore has now, by path: somebody may have resized it. */
    Map<String, Integer> limits(ZooKeeperClient client) throws InterruptedException {
        Map<String, Integer> limits = new HashMap<>();
        for (String path : mode == Mode.SEMAPHORE ? paths : List.<String>of()) {
            limits.put(path, new InterProcessSemaphore(client, path, limit).maxLeases());
        }
        return limits;
    }

    /** Returns how many permits a holder has; 1 if this is no semaphore. */
    int permitsOf(Participant holder) {
        return mode == Mode.SEMAPHORE ? InterProcessSemaphore.permitsOf(holder) : 1;
    }

    /** Creates the lock object. Sends nothing. */
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
            // LeaderElection and Curator's LeaderLatch stand in the same queue.
            case LEADER -> new LockInternals(client, path, new MutexDriver("latch-"), LockOptions.defaults()).unowned();
        };
    }

    /** Returns the paths, for messages. */
    @Override
    public String toString() {
        return String.join(",", paths);
    }
}
