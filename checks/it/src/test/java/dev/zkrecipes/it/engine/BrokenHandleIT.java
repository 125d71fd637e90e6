// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.apache.zookeeper.AsyncCallback.Children2Callback;
import org.apache.zookeeper.AsyncCallback.ChildrenCallback;
import org.apache.zookeeper.AsyncCallback.DataCallback;
import org.apache.zookeeper.AsyncCallback.MultiCallback;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A client jar that lacks a method: the lock client ends, which every request is told, with the name of the method. */
@Tag("H97")
class BrokenHandleIT extends ServerStage {
    private OldHandle handle;
    private ZooKeeperClient client;

    /** Lacks what it is told to. */
    private static final class OldHandle extends ZooKeeper {
        private final NoSuchMethodError failure = new NoSuchMethodError("org.apache.zookeeper.Op.getChildren");
        private volatile String missing = "";

        OldHandle(String connectString) throws IOException {
            super(connectString, 30_000, event -> {});
        }

        private void call(String method) {
            if (method.equals(missing)) {
                throw failure;
            }
        }

        @Override
        public void getChildren(String path, boolean watch, Children2Callback callback, Object context) {
            call("getChildren");
            super.getChildren(path, watch, callback, context);
        }

        @Override
        public void getChildren(String path, Watcher watcher, ChildrenCallback callback, Object context) {
            call("getChildren with a watcher");
            super.getChildren(path, watcher, callback, context);
        }

        @Override
        public void getData(String path, Watcher watcher, DataCallback callback, Object context) {
            call("getData");
            super.getData(path, watcher, callback, context);
        }

        @Override
        public void multi(Iterable<Op> operations, MultiCallback callback, Object context) {
            call("multi");
            super.multi(operations, callback, context);
        }
    }

    @BeforeEach
    void connect() throws Exception {
        handle = new OldHandle(server.connectString());
        client = ZooKeeperClient.wrap(handle);
        assertThat(client.awaitConnected(Duration.ofSeconds(120))).isTrue();
    }

    @AfterEach
    void close() throws InterruptedException {
        handle.missing = "";
        client.close();
        handle.close();
    }

    private void assertNamesIt(Throwable failure) {
        assertThat(failure)
                .isInstanceOf(ClientClosedException.class)
                .hasCause(handle.failure)
                .hasMessageContaining("NoSuchMethodError")
                .hasMessageContaining("Op.getChildren")
                .hasMessageContaining("use the version of ZooKeeper");
    }

    /** What anything was waiting for or held when the method was missed. */
    private void assertEnds(Lease held, List<CompletableFuture<Lease>> requests) {
        InterProcessLock lock = new InterProcessMutex(client, "/any");
        for (CompletableFuture<Lease> request : requests) {
            assertThat(request)
                    .failsWithin(Duration.ofSeconds(120))
                    .withThrowableOfType(ExecutionException.class)
                    .extracting(Throwable::getCause)
                    .satisfies(this::assertNamesIt);
        }
        assertThat(held.ended()).succeedsWithin(Duration.ofSeconds(120)).isEqualTo(LeaseState.LOST);
        assertThat(held.isValid()).isFalse();
        assertThatThrownBy(lock::tryAcquire).satisfies(this::assertNamesIt);
        assertThatThrownBy(lock::acquire).satisfies(this::assertNamesIt);
        assertThatThrownBy(lock::participants).satisfies(this::assertNamesIt);
        Soon.await().until(() -> client.connectionState() == ConnectionState.CLOSED);
        Soon.await()
                .untilAsserted(() -> assertThat(server.children(held.path())).isEmpty());
    }

    @Test
    void failedList_endsTheClient() throws Exception {
        Lease held = new InterProcessMutex(client, "/held").acquire();
        handle.missing = "getChildren";
        InterProcessLock mutex = new InterProcessMutex(client, "/cannot-list");
        assertEnds(held, List.of(mutex.acquireAsync(), mutex.acquireAsync()));
    }

    @Test
    void failedReadOfTheRule_endsTheClient() throws Exception {
        Lease held = new InterProcessMutex(client, "/held").acquire();
        handle.missing = "multi";
        InterProcessSemaphore semaphore = new InterProcessSemaphore(client, "/cannot-read", 2);
        assertEnds(held, List.of(semaphore.acquireAsync()));
    }

    @Test
    void failedWatch_endsTheClient() throws Exception {
        InterProcessLock mutex = new InterProcessMutex(client, "/held");
        Lease held = mutex.acquire();
        handle.missing = "getChildren with a watcher";
        assertEnds(held, List.of(mutex.acquireAsync()));
    }

    @Test
    void failedWatchOfTheRule_endsTheClient() throws Exception {
        InterProcessSemaphore semaphore = new InterProcessSemaphore(client, "/held-too", 1);
        Lease held = semaphore.acquire();
        handle.missing = "getData";
        assertEnds(held, List.of(semaphore.acquireAsync()));
    }
}
