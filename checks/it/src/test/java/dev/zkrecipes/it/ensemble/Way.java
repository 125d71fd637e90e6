// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.ensemble;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import java.util.List;
import java.util.function.Function;

/** The ways to hold something, by every recipe. Each lock but a reader's guards the counter of its name. */
enum Way {
    MUTEX(List.of("mutex"), true, client -> new InterProcessMutex(client, path("mutex"))),
    WRITE(List.of("book"), true, client -> new InterProcessReadWriteLock(client, path("book")).writeLock()),
    READ(List.of("book"), false, client -> new InterProcessReadWriteLock(client, path("book")).readLock()),
    SEMAPHORE(List.of("permit"), true, client -> new InterProcessSemaphore(client, path("permit"), 1).permits(1)),
    TOGETHER(
            List.of("left", "right"),
            true,
            client -> new InterProcessMultiLock(client, List.of(path("left"), path("right"))));

    static final String LOCKS = "/locks";
    static final List<String> NAMES = List.of("mutex", "book", "permit", "left", "right");

    private final List<String> names;
    private final boolean exclusive;
    private final Function<ZooKeeperClient, InterProcessLock> maker;

    Way(List<String> names, boolean exclusive, Function<ZooKeeperClient, InterProcessLock> maker) {
        this.names = names;
        this.exclusive = exclusive;
        this.maker = maker;
    }

    static String path(String name) {
        return LOCKS + "/" + name;
    }

    /** What it locks. */
    List<String> names() {
        return names;
    }

    boolean isExclusive() {
        return exclusive;
    }

    InterProcessLock lock(ZooKeeperClient client) {
        return maker.apply(client);
    }
}
