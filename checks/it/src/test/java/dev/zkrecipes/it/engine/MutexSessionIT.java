// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Roots of connections, and what becomes of waiters and of deletes when a session ends. */
@WithZooKeeper(tickTimeMillis = 200)
@Timeout(600)
class MutexSessionIT {
    private final EmbeddedZooKeeper server;
    private final String name;
    private final String path;

    MutexSessionIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.name = test.getTestMethod().orElseThrow().getName();
        this.path = "/session/" + name;
    }

    private static ZooKeeperClient client(String connectString, Duration session) throws InterruptedException {
        return TestClients.connect(connectString, session);
    }

    // ---- Chroots.

    @Test
    @Tag("H56")
    void lockOnTheRootOfAChroot_works() throws Exception {
        String chroot = "/" + name;
        server.createNode(chroot, new byte[0]);
        try (ZooKeeperClient client = client(server.connectString() + chroot, Duration.ofSeconds(10));
                ZooKeeperClient outside = client(server.connectString(), Duration.ofSeconds(10))) {
            InterProcessMutex mutex = new InterProcessMutex(client, "/");
            Lease lease = mutex.tryAcquire(Duration.ofSeconds(20)).orElseThrow();
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
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/locks/orders"})
    @Tag("H56")
    void missingChroot_isNamedInTheError(String lock) throws Exception {
        String chroot = "/missing";
        try (ZooKeeperClient client = client(server.connectString() + chroot, Duration.ofSeconds(10))) {
            InterProcessMutex mutex = new InterProcessMutex(client, lock);
            assertThatThrownBy(mutex::acquire)
                    .isInstanceOf(LockException.class)
                    .hasMessageContaining("chroot")
                    .hasMessageContaining(chroot);
            assertThatThrownBy(mutex::tryAcquire)
                    .isInstanceOf(LockException.class)
                    .hasMessageContaining(chroot);
            assertThat(server.nodeExists(chroot)).isFalse();
        }
    }

    // ---- Deletes.

    /**
     * A server that was away gives every session its whole time-out when it is back, so it knows this one for a while
     * after the client has given it up.
     */
    @Test
    @Tag("H59")
    void deletesOfASessionGivenUpByTheClient_continueInTheNext() throws Exception {
        Duration session = Duration.ofSeconds(9);
        int each = 20;
        try (FaultProxy proxy = FaultProxy.to(server);
                ZooKeeperClient client = client(proxy.connectString(), session)) {
            List<Lease> leases = new ArrayList<>();
            List<CompletableFuture<Lease>> waiting = new ArrayList<>();
            for (int i = 0; i < each; i++) {
                InterProcessMutex mutex = new InterProcessMutex(client, path + "/" + i);
                leases.add(mutex.acquireAsync().get(120, TimeUnit.SECONDS));
                waiting.add(mutex.acquireAsync());
            }
            InterProcessMutex unknown = new InterProcessMutex(client, path + "/unknown");
            unknown.acquire().close();
            long old = client.zooKeeper().orElseThrow().getSessionId();
            await().until(() -> server.ephemerals(old).size() == 2 * each);
            // A create that is applied and never answered.
            proxy.pauseReplies();
            waiting.add(unknown.acquireAsync());
            await().until(() -> server.ephemerals(old).size() == 2 * each + 1);
            CompletableFuture<Void> expired = new CompletableFuture<>();
            client.addConnectionListener(state -> {
                if (state == ConnectionState.EXPIRED) {
                    expired.complete(null);
                }
            });
            // Refused, not accepted and closed: every accepted connection makes the client hope for a time-out longer.
            proxy.refuse();
            server.stop();
            List<CompletableFuture<Void>> closed =
                    leases.stream().map(Lease::closeAsync).toList();
            waiting.forEach(future -> future.cancel(false));
            expired.get(40, TimeUnit.SECONDS);

            server.restart();
            assertThat(server.ephemerals(old)).as("nodes of the old session").hasSize(2 * each + 1);
            proxy.resume();
            proxy.accept();
            await().until(() -> server.ephemerals(old).isEmpty());
            assertThat(server.sessions()).as("the old session lives on").contains(old);
            try (ZooKeeperClient other = client(server.connectString(), session)) {
                for (int i = 0; i < each; i++) {
                    new InterProcessMutex(other, path + "/" + i).acquire().close();
                }
                new InterProcessMutex(other, path + "/unknown").acquire().close();
            }
            CompletableFuture.allOf(closed.toArray(new CompletableFuture<?>[0])).get(120, TimeUnit.SECONDS);
        }
    }
}
