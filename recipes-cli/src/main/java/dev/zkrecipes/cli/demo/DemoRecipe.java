// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import dev.zkrecipes.cli.demo.Ledger.Share;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/**
 * A recipe that the demo can show. It says what its locks protect, and chooses what a worker holds in its next turn.
 * The demo uses it for the verdict, and each worker process for its locks.
 */
enum DemoRecipe {
    MUTEX("a mutex", "one at a time", "# holds", 1, 1),
    RWLOCK("a read-write lock", "nobody beside a writer", "r reads, W writes", 1, Demo.WORKERS),
    SEMAPHORE("a semaphore of 5 permits", "at most 5 permits", "1-5 permits", 1, 5),
    MULTILOCK("two of 6 locks at once", "no lock held twice", "# holds", 6, 1);

    /**
     * What a worker does next.
     *
     * @param lock the lock that it acquires
     * @param share what it holds with the lock
     */
    record Turn(InterProcessLock lock, Share share) {}

    private static final int[] PERMITS = {1, 2, 3, 5};

    final String title;
    /** The rule that no worker may break, in a few words. */
    final String rule;
    /** What the marks of the picture mean. */
    final String marks;
    /** How many things the locks protect. */
    final int things;
    /** How much there is of each thing. */
    final int capacity;

    DemoRecipe(String title, String rule, String marks, int things, int capacity) {
        this.title = title;
        this.rule = rule;
        this.marks = marks;
        this.things = things;
        this.capacity = capacity;
    }

    /**
     * Chooses the next turn of a worker. With {@code alone} it takes everything, so that no other worker can hold.
     */
    Turn turn(ZooKeeperClient client, boolean alone) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return switch (this) {
            case MUTEX -> new Turn(new InterProcessMutex(client, path(0)), Share.of('#', 1));
            case RWLOCK -> {
                InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, path(0));
                yield alone || random.nextInt(3) == 0
                        ? new Turn(lock.writeLock(), Share.of('W', capacity))
                        : new Turn(lock.readLock(), Share.of('r', 1));
            }
            case SEMAPHORE -> {
                int permits = alone ? capacity : PERMITS[random.nextInt(PERMITS.length)];
                yield new Turn(
                        new InterProcessSemaphore(client, path(0), capacity).permits(permits),
                        Share.of(Character.forDigit(permits, 10), permits));
            }
            case MULTILOCK -> {
                List<Integer> all =
                        new ArrayList<>(IntStream.range(0, things).boxed().toList());
                Collections.shuffle(all); // a multi-lock does not deadlock, whatever the order of its paths
                List<Integer> chosen = all.subList(0, alone ? things : 2);
                List<String> paths = chosen.stream().map(DemoRecipe::path).toList();
                yield new Turn(new InterProcessMultiLock(client, paths), new Share('#', 1, chosen));
            }
        };
    }

    /** The path of the lock that protects a thing. */
    static String path(int thing) {
        return "/demo/" + thing;
    }

    /** The name as users write it on the command line. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
