// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.cases;

import dev.zkrecipes.bench.cases.WaysToWait.Way;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/** One client in a queue, with ZooKeeper's bare client and one of the three ways to wait. As short as can be. */
final class BareWaiter {
    static final long POLL_MILLIS = 250;

    private static final byte[] NO_DATA = {};

    private final ZooKeeper zooKeeper;
    private final String path;
    private final Way way;
    private final ScheduledExecutorService timer;
    private volatile String node = "";
    private volatile CompletableFuture<BareWaiter> granted = new CompletableFuture<>();

    BareWaiter(ZooKeeper zooKeeper, String path, Way way, ScheduledExecutorService timer) {
        this.zooKeeper = zooKeeper;
        this.path = path;
        this.way = way;
        this.timer = timer;
    }

    /** Takes its place at the end of the queue. */
    void enqueue() throws InterruptedException {
        try {
            String made =
                    zooKeeper.create(path + "/lock-", NO_DATA, Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
            node = made.substring(path.length() + 1);
        } catch (KeeperException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Waits for its turn, without a thread. */
    CompletableFuture<BareWaiter> await() {
        CompletableFuture<BareWaiter> turn = new CompletableFuture<>();
        granted = turn;
        look();
        return turn;
    }

    /** Looks no more; its node stays until its session ends. */
    void stop() {
        granted.cancel(false);
    }

    /** Leaves the queue, as its holder. */
    void release() throws InterruptedException {
        try {
            zooKeeper.delete(path + "/" + node, -1);
        } catch (KeeperException e) {
            throw new IllegalStateException(e);
        }
    }

    private void look() {
        if (granted.isDone()) {
            return; // an event that came too late: of a watch that was left when the turn came
        }
        Watcher onChange = way == Way.PARENT ? event -> look() : null;
        zooKeeper.getChildren(path, onChange, (rc, at, context, children) -> decide(children), null);
    }

    private void decide(List<String> children) {
        // All names have the same length, so the order of the text is that of the numbers.
        Optional<String> predecessor =
                children.stream().filter(name -> name.compareTo(node) < 0).max(Comparator.naturalOrder());
        if (predecessor.isEmpty()) {
            granted.complete(this);
        } else if (way == Way.POLLING) {
            var unused = timer.schedule(this::look, POLL_MILLIS, TimeUnit.MILLISECONDS);
        } else if (way == Way.PREDECESSOR) {
            watch(predecessor.get());
        }
    }

    private void watch(String predecessor) {
        Watcher onDeletion = event -> look();
        zooKeeper.exists(
                path + "/" + predecessor,
                onDeletion,
                (rc, at, context, stat) -> {
                    if (Code.get(rc) == Code.NONODE) {
                        look();
                    }
                },
                null);
    }
}
