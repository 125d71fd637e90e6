// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import static dev.zkrecipes.mutex.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.Remains;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** One path, which exists, with the lock under test and a rival. */
final class Scene {
    final String path = "/contract/" + UUID.randomUUID();
    final InterProcessLock lock;
    final InterProcessLock rival;

    private final Contenders contenders;
    private final EmbeddedZooKeeper server;

    private Scene(Contenders contenders, LockOptions options) {
        this.contenders = contenders;
        this.server = contenders.server;
        this.lock = contenders.recipe.lock().make(contenders.client, path, options);
        this.rival = contenders.recipe.rival().make(contenders.rivals, path, LockOptions.defaults());
    }

    static Scene of(Contenders contenders) throws InterruptedException {
        return of(contenders, LockOptions.defaults());
    }

    static Scene of(Contenders contenders, LockOptions options) throws InterruptedException {
        contenders.awaitConnected();
        Scene scene = new Scene(contenders, options);
        scene.rival.acquire().close();
        return scene;
    }

    List<String> nodes() {
        return server.children(path);
    }

    /** Waits until this many nodes are in the queue. */
    void awaitNodes(int count) {
        await().until(() -> nodes().size() == count);
    }

    /** Waits until one request stands behind the rival and watches him, the only one in all scenes. */
    void awaitWaiting() {
        awaitNodes(2);
        contenders.awaitWatches(1);
    }

    /** The path of the one node in the queue. */
    String onlyNode() {
        assertThat(nodes()).hasSize(1);
        return path + "/" + nodes().get(0);
    }

    /** After everybody has given back what he had: the rival can have the lock, and no node is left. */
    void assertPathIsFree() throws InterruptedException {
        Optional<Lease> next = rival.tryAcquire(Duration.ofSeconds(1));
        assertThat(next).as("the rival's lease, queue %s", nodes()).isPresent();
        next.get().close();
        await().untilAsserted(() -> assertThat(nodes()).isEmpty());
        assertThat(lock.isAcquiredInThisProcess()).isFalse();
        assertThat(lock.isHeldByCurrentThread()).isFalse();
        assertThat(lock.holdCount()).isZero();
    }

    /** The same, and on no path a watch or an entry is left. */
    void assertNothingLeft() throws InterruptedException {
        assertPathIsFree();
        await().untilAsserted(() -> {
            assertThat(server.watchCount()).isZero();
            if (contenders.client.connectionState() != ConnectionState.CLOSED) {
                assertThat(Remains.of(contenders.client)).isEmpty();
            }
        });
    }
}
