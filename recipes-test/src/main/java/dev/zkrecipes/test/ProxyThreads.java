// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import com.google.common.util.concurrent.Uninterruptibles;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** The threads of one proxy: a new daemon for each task, and a wait for the last one. */
final class ProxyThreads implements Executor {
    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final String name;

    @GuardedBy("this")
    private final Set<Thread> started = new HashSet<>();

    @GuardedBy("this")
    private int count;

    ProxyThreads(String name) {
        this.name = name;
    }

    @Override
    public synchronized void execute(Runnable task) {
        started.removeIf(thread -> !thread.isAlive());
        Thread thread = new Thread(task, name + "-" + ++count);
        thread.setDaemon(true);
        thread.start();
        started.add(thread);
    }

    /** Waits until all have ended, those too that are started meanwhile. */
    void awaitEnd() {
        for (Thread thread = anyAlive(); thread != null; thread = anyAlive()) {
            Uninterruptibles.joinUninterruptibly(thread, LIMIT);
            if (thread.isAlive()) {
                throw new IllegalStateException("thread " + thread.getName() + " does not end");
            }
        }
    }

    private synchronized @Nullable Thread anyAlive() {
        return started.stream().filter(Thread::isAlive).findAny().orElse(null);
    }
}
