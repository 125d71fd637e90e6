// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.bench;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

/** Measures one thing after the other. */
final class LockBench {
    private static final byte[] NO_DATA = {};
    private static final int PERMITS = 3;

    private final List<ZooKeeperClient> sessions;
    private final Scratch scratch;
    private final Stopwatch stopwatch;

    /** On connected clients, two or more. */
    LockBench(List<ZooKeeperClient> sessions, Scratch scratch, Stopwatch stopwatch) {
        this.sessions = List.copyOf(sessions);
        this.scratch = scratch;
        this.stopwatch = stopwatch;
    }

    /** Measures and tells, until all is measured or nobody reads any more. */
    void run(Report report) throws InterruptedException, ExecutionException, TimeoutException, KeeperException {
        mutex(0, "mutex").acquire().close(); // which makes the path
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
        String node = zooKeeper.create(
                scratch.of("create-"), NO_DATA, ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
        long nanos = System.nanoTime() - begin;
        zooKeeper.delete(node, -1);
        return nanos;
    }
}
