// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.retry.RetryOneTime;

/** A process that takes part in a lock, old or new: with a session of its own and one lock on the path. */
interface Party extends AutoCloseable {

    /** What it asks for. */
    enum Kind {
        MUTEX,
        READ,
        WRITE
    }

    /** What it has. */
    @FunctionalInterface
    interface Hold {
        void giveBack() throws Exception;
    }

    /** Queues. */
    CompletableFuture<Hold> acquire();

    /** The id of its session. */
    long session();

    @Override
    void close();

    /** A process that has this library. */
    static Party ours(EmbeddedZooKeeper server, String path, Kind kind) throws InterruptedException {
        ZooKeeperClient client = ZooKeeperClient.connect(server.connectString());
        client.awaitConnected(Duration.ofSeconds(120));
        InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, path);
        dev.zkrecipes.core.InterProcessLock mine = switch (kind) {
            case MUTEX -> new InterProcessMutex(client, path);
            case READ -> lock.readLock();
            case WRITE -> lock.writeLock();
        };
        return new Party() {
            @Override
            public CompletableFuture<Hold> acquire() {
                return mine.acquireAsync().thenApply(lease -> lease::close);
            }

            @Override
            public long session() {
                return client.zooKeeper().orElseThrow().getSessionId();
            }

            @Override
            public void close() {
                client.close();
            }

            @Override
            public String toString() {
                return "our " + kind;
            }
        };
    }

    /** A process that has Apache Curator, whose locks belong to threads. */
    static Party theirs(EmbeddedZooKeeper server, String path, Kind kind) {
        CuratorFramework client = CuratorFrameworkFactory.newClient(server.connectString(), new RetryOneTime(100));
        client.start();
        var lock = new org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock(client, path);
        InterProcessLock mine = switch (kind) {
            case MUTEX -> new org.apache.curator.framework.recipes.locks.InterProcessMutex(client, path);
            case READ -> lock.readLock();
            case WRITE -> lock.writeLock();
        };
        ExecutorService thread = Executors.newSingleThreadExecutor();
        return new Party() {
            @Override
            public CompletableFuture<Hold> acquire() {
                CompletableFuture<Hold> acquired = new CompletableFuture<>();
                thread.execute(() -> {
                    try {
                        mine.acquire();
                        acquired.complete(() -> thread.submit(() -> {
                                    mine.release();
                                    return "released";
                                })
                                .get(120, TimeUnit.SECONDS));
                    } catch (Exception e) {
                        acquired.completeExceptionally(e);
                    }
                });
                return acquired;
            }

            @Override
            public long session() {
                return CuratorHandle.of(client).getSessionId();
            }

            @Override
            public void close() {
                thread.shutdownNow();
                client.close();
            }

            @Override
            public String toString() {
                return "Curator's " + kind;
            }
        };
    }
}
