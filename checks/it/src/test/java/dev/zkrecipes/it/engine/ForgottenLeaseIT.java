// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.mutex.InterProcessSemaphoreMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.lang.ref.WeakReference;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A lost lease that was dropped without being closed keeps nobody from acquiring the lock again. */
@WithZooKeeper(tickTimeMillis = 200)
@Timeout(600)
@Tag("alone")
@Tag("H112")
class ForgottenLeaseIT {
    private final EmbeddedZooKeeper server;

    ForgottenLeaseIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    private interface Loss {
        void happen() throws Exception;
    }

    private static WeakReference<Lease> forgotten(InterProcessLock lock, Loss loss) throws Exception {
        Lease lease = lock.acquire();
        loss.happen();
        Soon.await().until(() -> lease.state() == LeaseState.LOST);
        return new WeakReference<>(lease);
    }

    private static void assertIsFreeAgain(InterProcessLock lock, WeakReference<Lease> lost) throws Exception {
        Soon.await().until(() -> {
            System.gc();
            return lost.refersTo(null);
        });
        assertThatThrownBy(lock::acquire).isInstanceOf(LockLostException.class); // the thread is told once
        lock.acquire().close();
        assertThat(lock.holdCount()).isZero();
    }

    @Test
    void sessionThatEnded() throws Exception {
        try (ZooKeeperClient client = TestClients.connect(server.connectString())) {
            for (InterProcessLock lock : new InterProcessLock[] {
                new InterProcessMutex(client, "/forgotten/mutex"),
                new InterProcessSemaphoreMutex(client, "/forgotten/once")
            }) {
                long session = client.zooKeeper().orElseThrow().getSessionId();
                assertIsFreeAgain(lock, forgotten(lock, () -> server.expireSession(session)));
            }
        }
    }

    @Test
    void timeThatIsOver() throws Exception {
        try (ZooKeeperClient client = TestClients.connect(server.connectString())) {
            InterProcessLock lock = new InterProcessMutex(
                    client, "/forgotten/brief", LockOptions.defaults().withHoldAtMost(Duration.ofMillis(200)));
            assertIsFreeAgain(lock, forgotten(lock, () -> {}));
        }
    }
}
