// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.internal.ServerStage;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Locks at the root of a connection, and the nodes of a session that the client has given up. */
class MutexSessionIT extends ServerStage {
    @Test
    @Tag("H56")
    void lockOnTheRootOfAChroot_works() throws Exception {
        String chroot = path;
        server.createNode(chroot, new byte[0]);
        ZooKeeperClient client = client(settings(server.connectString() + chroot));
        ZooKeeperClient outside = client();
        InterProcessMutex mutex = new InterProcessMutex(client, "/");
        Lease lease = mutex.tryAcquire(Duration.ofSeconds(120)).orElseThrow();
        assertThat(server.children(chroot)).hasSize(1);
        String first = server.children(chroot).get(0);
        lease.verify();
        assertThat(mutex.participants()).hasSize(1);
        // The same lock, seen from outside the chroot.
        InterProcessMutex same = new InterProcessMutex(outside, chroot);
        assertThat(same.tryAcquire()).isEmpty();
        CompletableFuture<Lease> waiting = same.acquireAsync();
        await().until(() -> server.childWatchers(chroot + "/" + first).size() == 1);
        CompletableFuture<Lease> behind = mutex.acquireAsync();
        // Behind a waiter, it watches what that one waits for.
        await().until(() -> server.childWatchers(chroot + "/" + first).size() == 2);
        lease.close();
        waiting.get(120, TimeUnit.SECONDS).close();
        behind.get(120, TimeUnit.SECONDS).close();
        assertThat(server.children(chroot)).isEmpty();
    }

    @Test
    @Tag("H59")
    void nodeOfASessionGivenUpByTheClient_isDeletedBeforeTheClientEnds() throws Exception {
        FaultProxy proxy = proxy();
        ZooKeeperClient client = client(proxy);
        ZooKeeperClient other = client();
        Lease lease = new InterProcessMutex(client, path).acquire();
        long oldSession = client.zooKeeper().orElseThrow().getSessionId();
        proxy.latency(Duration.ofMillis(20)); // so that the next session is not connected yet when the client closes
        client.zooKeeper().orElseThrow().getTestable().injectSessionExpiration();
        CompletableFuture<Void> lost = new CompletableFuture<>();
        lease.onLost(() -> lost.complete(null));
        lost.get(120, TimeUnit.SECONDS);
        client.close();

        assertThat(server.sessions()).contains(oldSession);
        assertThat(new InterProcessMutex(other, path).tryAcquire()).isPresent();
    }
}
