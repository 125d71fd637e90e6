// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.internal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * Finds threads that the code under test has left running: threads that are alive now but were not at the start.
 *
 * <pre>{@code
 * LeakCheck threads = LeakCheck.start();
 * useAndCloseTheClient();
 * threads.assertNoNewThreads(Duration.ofSeconds(5));
 * }</pre>
 *
 * <p>The check ignores threads of the JVM itself, of JUnit, Surefire and Awaitility, and of the common pool.
 * {@link #ignoring} ignores more threads, and {@link #onlyNamed} limits the check to some. Tests that run in parallel
 * in one JVM see each other's threads, so a test with this check must run alone. The check does not see virtual
 * threads.
 *
 * <p>Instances are immutable.
 */
public final class LeakCheck {
    private static final List<String> FOREIGN_NAMES = List.of(
            "ForkJoinPool.commonPool-",
            "ForkJoinPool-", // JUnit's pool, and the carriers of virtual threads
            "junit-",
            "surefire-",
            "awaitility",
            "process reaper",
            "Attach Listener",
            "Common-Cleaner",
            "JVMCI",
            "RMI ",
            "JMX ");
    private static final Set<String> FOREIGN_GROUPS = Set.of("system", "InnocuousThreadGroup", "CarrierThreads");

    private final Set<Thread> before;
    private final List<String> ignored;
    private final List<String> only;

    private LeakCheck(Set<Thread> before, List<String> ignored, List<String> only) {
        this.before = before;
        this.ignored = ignored;
        this.only = only;
    }

    /** Starts a check, and records the threads that are alive now. */
    public static LeakCheck start() {
        // Threads are compared by identity, so that no equals() of a subclass can hide one.
        Set<Thread> before = Collections.newSetFromMap(new IdentityHashMap<>());
        before.addAll(liveThreads());
        return new LeakCheck(before, FOREIGN_NAMES, List.of(""));
    }

    /** Returns a check that also ignores threads with these prefixes of their names. */
    public LeakCheck ignoring(String... namePrefixes) {
        List<String> all = new ArrayList<>(ignored);
        Collections.addAll(all, namePrefixes);
        return new LeakCheck(before, List.copyOf(all), only);
    }

    /** Returns a check that looks only at threads with these prefixes of their names. */
    public LeakCheck onlyNamed(String... namePrefixes) {
        return new LeakCheck(before, ignored, List.of(namePrefixes));
    }

    /** Returns the threads that are alive now but were not at the start. */
    public List<Thread> newThreads() {
        return liveThreads().stream()
                .filter(thread -> !before.contains(thread) && isLookedAt(thread))
                .toList();
    }

    /**
     * Waits until no new thread is left.
     *
     * @throws AssertionError if a new thread is still alive after that time; the message contains the stack traces
     */
    public void assertNoNewThreads(Duration limit) throws InterruptedException {
        List<Thread> left = Workers.awaitEnd(this::newThreads, limit);
        if (!left.isEmpty()) {
            throw new AssertionError(left.size() + " new threads still live after "
                    + MachineLoad.stretched(limit).toMillis() + " ms:"
                    + Workers.describe(left));
        }
    }

    private boolean isLookedAt(Thread thread) {
        ThreadGroup group = thread.getThreadGroup();
        boolean foreign = group == null || FOREIGN_GROUPS.contains(group.getName());
        return !foreign
                && ignored.stream().noneMatch(thread.getName()::startsWith)
                && only.stream().anyMatch(thread.getName()::startsWith);
    }

    private static Collection<Thread> liveThreads() {
        return Thread.getAllStackTraces().keySet();
    }
}
