// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.internal.ServerStage;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** P9: a release without a server returns, and is made up for when the server is back. */
class ReleaseWithoutAServerIT extends ServerStage {

    @Test
    @Tag("H46")
    void releaseWithoutAServer_returns_andIsCompletedLater() throws Exception {
        ZooKeeperClient client = client();
        InterProcessMutex first = new InterProcessMutex(client, path + "/closed");
        InterProcessMutex second = new InterProcessMutex(client, path + "/released");
        InterProcessMutex third = new InterProcessMutex(client, path + "/later");
        Lease closed = first.acquire();
        Lease released = second.acquire();
        Lease later = third.acquire();
        long session = client.zooKeeper().orElseThrow().getSessionId();
        server.stop();
        await().until(() -> client.connectionState() == ConnectionState.SUSPENDED);

        closed.close();
        closed.close();
        assertThatThrownBy(first::release).isInstanceOf(IllegalMonitorStateException.class);
        second.release();
        assertThatThrownBy(second::release).isInstanceOf(IllegalMonitorStateException.class);
        released.close();
        List<CompletableFuture<Void>> ends =
                List.of(closed.closeAsync(), released.closeAsync(), later.closeAsync(), later.closeAsync());
        assertThat(List.of(closed.state(), released.state(), later.state())).containsOnly(LeaseState.RELEASED);
        assertThat(ends).noneMatch(CompletableFuture::isDone);

        server.restart();
        for (CompletableFuture<Void> end : ends) {
            end.get(120, TimeUnit.SECONDS);
        }
        for (InterProcessMutex mutex : List.of(first, second, third)) {
            assertThat(server.children(mutex.path())).as(mutex.path()).isEmpty();
            assertThat(mutex.isAcquiredInThisProcess()).isFalse();
        }
        assertThat(client.zooKeeper().orElseThrow().getSessionId())
                .as("session")
                .isEqualTo(session);
    }

    @Test
    @Tag("H46")
    void releaseToASilentServer_endsWithTheRequestTimeout() throws Exception {
        FaultProxy proxy = proxy();
        ZooKeeperClient client = client(settings(proxy.connectString()).requestTimeout(Duration.ofMillis(400)));
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        Lease lease = mutex.acquire();
        proxy.pause();
        lease.close();
        assertThat(server.children(path)).hasSize(1);
        assertThat(lease.closeAsync()).isNotDone();
        proxy.resume();
        lease.closeAsync().get(120, TimeUnit.SECONDS);
        assertThat(server.children(path)).isEmpty();
    }
}
