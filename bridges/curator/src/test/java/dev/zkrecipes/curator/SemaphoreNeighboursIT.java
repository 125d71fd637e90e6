// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.IncompatibleNodeException;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.curator.Party.Hold;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.retry.RetryOneTime;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Curator's locks that live in folders below the path do not exclude ours, so ours are refused beside them. */
@Tag("H101")
class SemaphoreNeighboursIT extends ServerStage {
    private ZooKeeperClient client;
    private CuratorFramework curator;

    /** Those of Curator that keep their nodes in folders. */
    enum Theirs {
        SEMAPHORE_MUTEX,
        SEMAPHORE;

        Hold acquire(CuratorFramework curator, String path) throws Exception {
            if (this == SEMAPHORE) {
                InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(curator, path, 2);
                var permit = semaphore.acquire(20, TimeUnit.SECONDS);
                assertThat(permit).isNotNull();
                return () -> semaphore.returnLease(permit);
            }
            InterProcessSemaphoreMutex mutex = new InterProcessSemaphoreMutex(curator, path);
            assertThat(mutex.acquire(120, TimeUnit.SECONDS)).isTrue();
            return mutex::release;
        }
    }

    @BeforeEach
    void open() throws InterruptedException {
        client = client();
        curator = opened(CuratorFrameworkFactory.newClient(server.connectString(), new RetryOneTime(100)));
        curator.start();
    }

    private List<InterProcessLock> ours() {
        InterProcessReadWriteLock readWrite = new InterProcessReadWriteLock(client, path);
        return List.of(
                new InterProcessMutex(client, path),
                new dev.zkrecipes.mutex.InterProcessSemaphoreMutex(client, path),
                readWrite.readLock(),
                readWrite.writeLock(),
                new InterProcessMultiLock(client, List.of(path, path + "-other")));
    }

    private void assertRefused(ThrowingCallable request) {
        assertThatThrownBy(request)
                .isInstanceOf(IncompatibleNodeException.class)
                .hasMessageContaining(path + "/leases")
                .hasMessageContaining("InterProcessSemaphoreMutex and InterProcessSemaphoreV2")
                .hasMessageContaining("another path");
    }

    private void assertAllAreRefused() {
        for (InterProcessLock lock : ours()) {
            assertRefused(lock::acquire);
            assertRefused(lock::tryAcquire);
            assertRefused(() -> lock.tryAcquire(Duration.ofSeconds(20)));
            assertThat(lock.acquireAsync())
                    .failsWithin(Duration.ofSeconds(120))
                    .withThrowableThat()
                    .withCauseExactlyInstanceOf(IncompatibleNodeException.class);
        }
        Soon.await()
                .until(() -> server.children(path).stream().noneMatch(name -> name.contains("-"))
                        && server.children(path + "-other").isEmpty());
    }

    /** Without requests, ZooKeeper removes the folder for them. */
    @ParameterizedTest
    @EnumSource
    void curatorSemaphoreHeldForLong_isNamed(Theirs theirs) throws Exception {
        Hold held = theirs.acquire(curator, path);
        Soon.await().until(() -> server.children(path + "/locks").isEmpty());
        server.reapContainers();
        assertThat(server.children(path)).containsExactly("leases");
        assertAllAreRefused();
        held.giveBack();
    }

    @ParameterizedTest
    @EnumSource
    void idleCuratorSemaphore_isNamed_untilItsFoldersAreGone(Theirs theirs) throws Exception {
        theirs.acquire(curator, path).giveBack();
        Soon.await().until(() -> server.children(path + "/leases").isEmpty());
        assertAllAreRefused();
        Soon.await().until(() -> {
            server.reapContainers();
            return !server.nodeExists(path + "/leases");
        });
        for (InterProcessLock lock : ours()) {
            lock.acquire().close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void laterCuratorSemaphore_keepsOurLease_andRefusesTheNextRequest(Theirs theirs) throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        Lease ours = mutex.acquire();
        Hold beside = theirs.acquire(curator, path); // nothing here can keep it from that
        ours.verify();
        ours.close();
        assertRefused(mutex::acquire);
        beside.giveBack();
    }

    @Test
    void ourSemaphore_isRefusedToo_onItsOwnPath() throws Exception {
        InterProcessSemaphore semaphore = new InterProcessSemaphore(client, path, 2);
        semaphore.acquire().close();
        Hold held = Theirs.SEMAPHORE.acquire(curator, path);
        assertRefused(semaphore::acquire);
        held.giveBack();
    }

    @ParameterizedTest
    @EnumSource
    void ourSemaphore_onAPathThatCuratorMade_isRefusedForItsMissingLimit(Theirs theirs) throws Exception {
        Hold held = theirs.acquire(curator, path);
        InterProcessSemaphore semaphore = new InterProcessSemaphore(client, path, 2);
        assertThatThrownBy(semaphore::acquire)
                .isInstanceOf(LockRefusedException.class)
                .hasMessageContaining(path + " has no data where a semaphore keeps its limit")
                .hasMessageContaining("Curator");
        held.giveBack();
    }

    /** Whoever deletes the folders has a path without a limit: it has to go, too. */
    @ParameterizedTest
    @EnumSource
    void ourSemaphore_works_onceThePathItselfIsGone(Theirs theirs) throws Exception {
        theirs.acquire(curator, path).giveBack();
        Soon.await().until(() -> server.children(path + "/leases").isEmpty());
        for (String folder : server.children(path)) {
            curator.delete().deletingChildrenIfNeeded().forPath(path + "/" + folder);
        }
        InterProcessSemaphore semaphore = new InterProcessSemaphore(client, path, 2);
        assertThatThrownBy(semaphore::acquire)
                .isExactlyInstanceOf(LockRefusedException.class)
                .hasMessageContaining("has no data where a semaphore keeps its limit");
        awaitNodes(0); // the refused request's node goes after its answer
        curator.delete().forPath(path);
        semaphore.acquire().close();
    }

    // ---- The deprecated semaphore, which has no folders.

    @SuppressWarnings("deprecation")
    private Callable<Hold> deprecated(int permits) {
        var semaphore = new org.apache.curator.framework.recipes.locks.InterProcessSemaphore(curator, path, permits);
        return () -> {
            var permit = semaphore.acquire();
            return () -> semaphore.returnLease(permit);
        };
    }

    private static CompletableFuture<Hold> async(Callable<Hold> request) {
        CompletableFuture<Hold> wanted = new CompletableFuture<>();
        new Thread(() -> {
                    try {
                        wanted.complete(request.call());
                    } catch (Exception e) {
                        wanted.completeExceptionally(e);
                    }
                })
                .start();
        return wanted;
    }

    @Test
    void deprecatedSemaphoreOfOnePermit_standsInOneQueueWithOurMutex() throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        Lease first = mutex.acquireAsync().get();
        CompletableFuture<Hold> second = async(deprecated(1));
        awaitNodes(2);
        CompletableFuture<Lease> third = mutex.acquireAsync();
        awaitNodes(3);
        assertThat(mutex.participants()).hasSize(3);
        assertThat(second).isNotDone();
        first.closeAsync().get();
        Hold permit = Soon.get(second);
        assertThat(mutex.participants()).hasSize(2);
        assertThat(third).isNotDone();
        permit.giveBack();
        Soon.get(third).closeAsync().get();
    }

    @Test
    void deprecatedSemaphoreOfTwoPermits_givesOneBesideOurMutex_whichWaitsForAll() throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        Lease first = mutex.acquireAsync().get();
        Hold beside = Soon.get(async(deprecated(2)));
        Soon.await().until(first::isValid);
        first.closeAsync().get();
        Hold another = Soon.get(async(deprecated(2)));
        CompletableFuture<Lease> last = mutex.acquireAsync();
        awaitNodes(3);
        beside.giveBack();
        awaitNodes(2);
        assertThat(mutex.participants()).hasSize(2);
        assertThat(last).isNotDone();
        another.giveBack();
        Soon.get(last).closeAsync().get();
    }

    @Test
    void requestFolder_mayBeALockItself() throws Exception {
        Lease below = new InterProcessMutex(client, path + "/locks").acquire();
        for (InterProcessLock lock : ours()) {
            lock.acquire().close();
        }
        Soon.await().until(below::isValid);
        below.close();
    }
}
