// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.schedules.faults;

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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** The recipes to explore, and what each of them promises. */
final class Recipes {
    private static final LockOptions DEFAULTS = LockOptions.defaults();
    private static final LockOptions BACKGROUND = DEFAULTS.withReleaseInBackground();
    private static final Duration LONGEST_HOLD = Duration.ofMillis(500);
    private static final int HANDOFFS_IN_A_ROW = 2;
    private static final Duration KEPT_FOR = Duration.ofSeconds(1);
    private static final int MAX_LEASES = 3;
    private static final String MUTEX_KIND = "lock-";
    private static final String LIMIT = "current=";

    private static final Rule ALONE = (front, self) -> front.isEmpty();
    private static final Rule READERS_OR_A_WRITER =
            (front, self) -> self.equals("__READ__") ? !front.contains("__WRIT__") : front.isEmpty();
    private static final Rule ALONE_OR_AT_MOST = (front, self) ->
            self.equals(MUTEX_KIND) ? front.isEmpty() : atMost(MAX_LEASES).mayHold(front, self);
    private static final Rule ALONE_OR_BY_MODE =
            (front, self) -> self.equals(MUTEX_KIND) ? front.isEmpty() : READERS_OR_A_WRITER.mayHold(front, self);
    private static final ChangingRule CHANGING_LIMIT = new ChangingRule(
            data -> atMost(limit(data)),
            List.of("lease.1-", "lease.2-", "lease.3-"),
            List.of(resizeTo(1), resizeTo(2), resizeTo(MAX_LEASES), resizeTo(MAX_LEASES + 2)));

    private Recipes() {}

    /** Returns all recipes by name, in the order in which they are explored. */
    static Map<String, ExploredLock> all() {
        Map<String, ExploredLock> all = new LinkedHashMap<>();
        all.put("MUTEX", mutex());
        all.put(
                "SEMAPHORE_MUTEX",
                ExploredLock.of(
                        "semaphore mutex",
                        ALONE,
                        (client, path) -> List.of(new InterProcessSemaphoreMutex(client, path))));
        all.put("RWLOCK", readWrite(DEFAULTS));
        all.put("SEMAPHORE", semaphore());
        all.put("SEMAPHORE_RESIZED", semaphore().withChangingRule(CHANGING_LIMIT));
        all.put("MUTEX_HANDOFFS", handoff(DEFAULTS));
        all.put("MUTEX_KEPT", kept(DEFAULTS));
        all.put("MULTILOCK", multi());
        all.put(
                "MULTILOCK_MIXED",
                ExploredLock.of("multi-lock of mutex and permits", ALONE_OR_AT_MOST, Recipes::mixed)
                        .withManyRequests());
        all.put(
                "MULTILOCK_OF_MODES",
                ExploredLock.of("multi-lock of a mutex and a mode", ALONE_OR_BY_MODE, Recipes::ofModes)
                        .withNesting(0, 2)
                        .withNesting(3, 2)
                        .withManyRequests());
        all.put(
                "MUTEX_IN_BACKGROUND",
                ExploredLock.of("mutex, some released in the background", ALONE, Recipes::bothWays)
                        .withNesting(0, 0)
                        .withNesting(0, 1)
                        .withNesting(1, 0));
        all.put("RWLOCK_IN_BACKGROUND", readWrite(BACKGROUND));
        all.put("MUTEX_REVOKED", mutex().withRevocations());
        all.put("RWLOCK_REVOKED", readWrite(DEFAULTS).withRevocations());
        all.put("MUTEX_HANDOFFS_REVOKED", handoff(DEFAULTS).withRevocations());
        all.put("MUTEX_KEPT_REVOKED", kept(DEFAULTS).withRevocations());
        all.put("MULTILOCK_REVOKED", multi().withRevocations());
        all.put(
                "MUTEX_HELD_AT_MOST",
                handoff(DEFAULTS.withHoldAtMost(LONGEST_HOLD)).withHoldAtMost(LONGEST_HOLD));
        all.put(
                "MUTEX_FAILING",
                handoff(DEFAULTS.withQueueLossPolicy(QueueLossPolicy.FAIL)).withPlacesLost());
        all.put(
                "MUTEX_KEPT_FAILING",
                kept(DEFAULTS.withQueueLossPolicy(QueueLossPolicy.FAIL)).withPlacesLost());
        return all;
    }

    private static ExploredLock mutex() {
        return ExploredLock.of("mutex", ALONE, (client, path) -> List.of(new InterProcessMutex(client, path)))
                .withNesting(0, 0);
    }

    private static ExploredLock readWrite(LockOptions options) {
        return ExploredLock.of("read-write lock", READERS_OR_A_WRITER, (client, path) -> {
                    InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, path, options);
                    return List.of(lock.readLock(), lock.writeLock());
                })
                .withNesting(0, 0)
                .withNesting(1, 1)
                .withNesting(1, 0);
    }

    private static ExploredLock semaphore() {
        return ExploredLock.of("semaphore", atMost(MAX_LEASES), (client, path) -> {
            InterProcessSemaphore semaphore = new InterProcessSemaphore(client, path, MAX_LEASES);
            return List.of(semaphore.permits(1), semaphore.permits(2), semaphore.permits(MAX_LEASES));
        });
    }

    /** Hand-off mutexes with at most two hand-offs in a row, beside a mutex in strict order. */
    private static ExploredLock handoff(LockOptions options) {
        return handoff("mutex, passed on", options, mutex -> mutex).withLocalHandoffs(HANDOFFS_IN_A_ROW);
    }

    /** Hand-off mutexes that keep their node, beside a mutex in strict order. */
    private static ExploredLock kept(LockOptions options) {
        return handoff("mutex, kept", options, mutex -> mutex.keepFor(KEPT_FOR))
                .withLocalHandoffs(HandoffMutex.MOST_HANDOFFS);
    }

    private static ExploredLock handoff(String name, LockOptions options, UnaryOperator<HandoffMutex> kept) {
        return ExploredLock.of(name, ALONE, (client, path) -> {
                    InterProcessLock passedOn = kept.apply(new HandoffMutex(client, path, HANDOFFS_IN_A_ROW, options));
                    return List.of(passedOn, new InterProcessMutex(client, path, options), passedOn, passedOn);
                })
                .withNesting(0, 0)
                .withNesting(1, 1);
    }

    /** Multi-locks of mutexes, beside one of these mutexes alone. */
    private static ExploredLock multi() {
        return ExploredLock.of("multi-lock", ALONE, (client, path) -> {
                    InterProcessLock x = new InterProcessMutex(client, path + "/x");
                    InterProcessLock y = new InterProcessMutex(client, path + "/y");
                    InterProcessLock z = new InterProcessMutex(client, path + "/z");
                    return List.of(
                            new InterProcessMultiLock(List.of(x, y)),
                            new InterProcessMultiLock(List.of(y, x, z)),
                            new InterProcessMultiLock(List.of(z, y)),
                            x);
                })
                .withNesting(0, 0);
    }

    /**
     * Returns multi-locks of a mutex and permits, beside each of these alone. The semaphore has a path of its own,
     * whose node stores the rule of the semaphore, its limit.
     */
    private static List<InterProcessLock> mixed(ZooKeeperClient client, String path) {
        InterProcessLock mutex = new InterProcessMutex(client, path + "/mutex");
        InterProcessSemaphore semaphore = new InterProcessSemaphore(client, path + "/semaphore", MAX_LEASES);
        return List.of(
                new InterProcessMultiLock(List.of(mutex, semaphore.permits(2))),
                mutex,
                new InterProcessMultiLock(List.of(semaphore.permits(MAX_LEASES), mutex)),
                semaphore.permits(1));
    }

    /** Returns multi-locks of a mutex and either mode of a read-write lock, beside each of these alone. */
    private static List<InterProcessLock> ofModes(ZooKeeperClient client, String path) {
        InterProcessLock mutex = new InterProcessMutex(client, path + "/mutex");
        InterProcessReadWriteLock modes = new InterProcessReadWriteLock(client, path + "/modes");
        return List.of(
                new InterProcessMultiLock(List.of(modes.writeLock(), mutex)),
                new InterProcessMultiLock(List.of(mutex, modes.readLock())),
                modes.readLock(),
                modes.writeLock(),
                mutex);
    }

    private static List<InterProcessLock> bothWays(ZooKeeperClient client, String path) {
        return List.of(new InterProcessMutex(client, path, BACKGROUND), new InterProcessMutex(client, path));
    }

    private static Rule atMost(int limit) {
        return (front, self) -> front.stream().mapToInt(Recipes::permits).sum() + permits(self) <= limit;
    }

    /** Returns the permits of a node, whose kind is {@code lease.<permits>-}. */
    private static int permits(String kind) {
        return Integer.parseInt(kind.substring(kind.indexOf('.') + 1, kind.length() - 1));
    }

    /** Returns the current limit in the data of a semaphore's node, see docs/versions.md. */
    private static int limit(byte[] data) {
        return new String(data, StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.startsWith(LIMIT))
                .mapToInt(line -> Integer.parseInt(line.substring(LIMIT.length())))
                .findFirst()
                .orElseThrow();
    }

    private static ChangingRule.Change resizeTo(int limit) {
        return (client, path) -> new InterProcessSemaphore(client, path, MAX_LEASES).resize(limit);
    }
}
