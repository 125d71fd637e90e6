// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.contender;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.handoff.HandoffMutex;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooKeeper;

/** This library's recipes. Before each write, a holder asks its lease. */
public class Ours implements LockClient {
    /** How long a lock stays in the process while nobody wants it: longer than any turn of a measurement. */
    private static final Duration KEEP = Duration.ofHours(1);

    private final ZooKeeperClient client;

    /** Opens a session. */
    public Ours(String connectString, Duration sessionTimeout) {
        client = ZooKeeperClient.builder()
                .connectString(connectString)
                .sessionTimeout(sessionTimeout)
                .build();
    }

    @Override
    public Cycle cycle(Work work, int size, String path) {
        if (work == Work.NEW_PATH) {
            Supplier<String> paths = Work.newPaths(path);
            return () -> mutex(paths.get()).acquire();
        }
        InterProcessLock lock = switch (work) {
            case BACKGROUND ->
                new InterProcessMutex(client, path, LockOptions.defaults().withReleaseInBackground());
            case SEMAPHORE -> new InterProcessSemaphore(client, path, size).permits(size);
            case MULTI_LOCK -> new InterProcessMultiLock(client, Work.paths(path, size));
            case HANDOFF -> new HandoffMutex(client, path, size);
            case KEPT -> new HandoffMutex(client, path, HandoffMutex.MOST_HANDOFFS).keepFor(KEEP);
            default -> mutex(path);
        };
        return lock::acquire;
    }

    /** Returns the client of all locks of this object. */
    protected ZooKeeperClient client() {
        return client;
    }

    /** A mutex of this client. */
    public InterProcessMutex mutex(String path) {
        return new InterProcessMutex(client, path);
    }

    @Override
    public Turn acquire(String path) throws InterruptedException {
        return turn(mutex(path).acquire(), path, false);
    }

    /**
     * Returns the turn that a lease stands for: its node below the path, with token and guards. If the lock is already
     * lost, closes the lease and throws {@link LockLostException}.
     */
    public static Turn turn(Lease lease, String path, boolean isShared) {
        try {
            List<Op> guards = MultiLease.guardsOf(lease);
            String node = guards.stream()
                    .map(Op::getPath)
                    .filter(each -> each.startsWith(path + "/"))
                    .findFirst()
                    .orElseThrow();
            long token = Objects.requireNonNull(MultiLease.tokensOf(lease).get(path));
            return new Turn(node, isShared, token, guards, lease::isValid, lease);
        } catch (LockLostException e) {
            lease.close();
            throw e;
        }
    }

    @Override
    public ZooKeeper handle() {
        return client.zooKeeper().orElseThrow();
    }

    @Override
    public void close() {
        client.close();
    }
}
