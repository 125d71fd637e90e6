// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A lock of Curator's counts only if the session after its acquire is that before it, whatever listeners have heard. */
class CuratorSessionsIT extends ServerStage {
    private CuratorFramework curator;

    @BeforeEach
    void open() throws InterruptedException {
        curator = opened(Curators.connect(server));
    }

    /** A lock of Curator's that is always free. Something happens during its first acquire. */
    private static final class Eventful implements org.apache.curator.framework.recipes.locks.InterProcessLock {
        private final Callable<?> event;
        private int acquired;
        private int released;

        Eventful(Callable<?> event) {
            this.event = event;
        }

        @Override
        public void acquire() throws Exception {
            acquire(-1, null);
        }

        @Override
        public boolean acquire(long time, TimeUnit unit) throws Exception {
            if (acquired++ == 0) {
                event.call();
            }
            return true;
        }

        @Override
        public void release() {
            released++;
        }

        @Override
        public boolean isAcquiredInThisProcess() {
            return acquired > released;
        }
    }

    /** Curator tells its listeners one after another, so one that blocks keeps the news of the loss from all others. */
    @Test
    void sessionReplacedDuringAnAcquire_isNoticedWithoutAListener() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        curator.getConnectionStateListenable().addListener((framework, state) -> {
            try {
                told.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        try {
            Eventful theirs = new Eventful(() -> {
                long session = CuratorHandle.of(curator).getSessionId();
                server.expireSession(session);
                Soon.await().until(() -> CuratorHandle.of(curator).getSessionId() != session);
                return curator.blockUntilConnected(20, TimeUnit.SECONDS);
            });
            Lease lease = CuratorLocks.ofCurator(curator, "/sessions", theirs)
                    .tryAcquire(Duration.ofSeconds(120))
                    .orElseThrow();
            assertThat(theirs.acquired).isEqualTo(2);
            assertThat(theirs.released).isEqualTo(1);
            lease.close();
        } finally {
            told.countDown();
        }
    }

    @Test
    void frameworkClosedDuringAnAcquire_givesTheLockBack() {
        Eventful theirs = new Eventful(() -> {
            curator.close(); // there is no session to compare with any more
            return true;
        });
        InterProcessLock lock = CuratorLocks.ofCurator(curator, "/sessions", theirs);
        assertThatThrownBy(lock::tryAcquire).isInstanceOf(ClientClosedException.class);
        assertThat(theirs.isAcquiredInThisProcess()).isFalse();
        assertThat(lock.isAcquiredInThisProcess()).isFalse();
    }
}
