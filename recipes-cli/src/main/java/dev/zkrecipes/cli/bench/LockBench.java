// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.bench;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;

/** Measures one thing after the other. */
final class LockBench {
    private static final byte[] NO_DATA = {};
    private static final int PERMITS = 3;

    private final List<ZooKeeperClient> sessions;
    private final Scratch scratch;
    private final List<ACL> acl;
    private final Stopwatch stopwatch;

    /**
     * A bench.
     *
     * @param sessions connected clients, two or more
     * @param scratch where its nodes go
     * @param acl the rights on nodes that it creates without a lock
     */
    LockBench(List<ZooKeeperClient> sessions, Scratch scratch, List<ACL> acl, Stopwatch stopwatch) {
        this.sessions = List.copyOf(sessions);
        this.scratch = scratch;
        this.acl = new ArrayList<>(acl); // ZooKeeper asks it whether it contains null, which List.copyOf refuses
        this.stopwatch = stopwatch;
    }

    /** Measures and reports, until everything is measured or nobody reads any more. */
    void run(Report report) throws InterruptedException, ExecutionException, TimeoutException, KeeperException {
        mutex(0, "mutex").acquire().close(); // creates the path
        for (Measure measure : Measure.values()) {
            if (!report.tell(measure, measure(measure))) {
                return;
            }
        }
        report.end();
    }

    private Figures measure(Measure measure)
            throws InterruptedException, ExecutionException, TimeoutException, KeeperException {
        return switch (measure) {
            case CREATE -> stopwatch.measure(this::create);
            case MUTEX -> stopwatch.measure(cycle(mutex(0, "mutex")));
            case SEMAPHORE ->
                stopwatch.measure(
                        cycle(new InterProcessSemaphore(sessions.get(0), scratch.of("semaphore"), PERMITS).permits(1)));
            case MULTI_LOCK ->
                stopwatch.measure(cycle(new InterProcessMultiLock(
                        List.of(mutex(0, "multi-1"), mutex(0, "multi-2"), mutex(0, "multi-3")))));
            case HAND_OVER -> handOver();
            case CONTENDED ->
                stopwatch.measureTogether(IntStream.range(0, sessions.size())
                        .mapToObj(session -> cycle(mutex(session, "contended")))
                        .toList());
        };
    }

    private Figures handOver() throws InterruptedException, ExecutionException, TimeoutException, KeeperException {
        try (HandOver handOver = new HandOver(mutex(0, "hand-over"), mutex(1, "hand-over"))) {
            return stopwatch.measure(handOver);
        }
    }

    private InterProcessLock mutex(int session, String name) {
        return new InterProcessMutex(sessions.get(session), scratch.of(name));
    }

    private static Task cycle(InterProcessLock lock) {
        return () -> {
            long begin = System.nanoTime();
            lock.tryAcquire(Task.LIMIT).orElseThrow(TimeoutException::new).close();
            return System.nanoTime() - begin;
        };
    }

    private long create() throws InterruptedException, KeeperException {
        ZooKeeper zooKeeper = Scratch.handle(sessions.get(0));
        long begin = System.nanoTime();
        String node = zooKeeper.create(scratch.of("create-"), NO_DATA, acl, CreateMode.EPHEMERAL_SEQUENTIAL);
        long nanos = System.nanoTime() - begin;
        zooKeeper.delete(node, -1);
        return nanos;
    }
}
