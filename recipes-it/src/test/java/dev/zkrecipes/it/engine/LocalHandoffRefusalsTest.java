// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.QueueLossPolicy;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import java.util.List;
import org.apache.zookeeper.ZooDefs;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where passing on inside the process makes no sense, it is refused when the lock is created, without asking a server. */
class LocalHandoffRefusalsTest {
    private static final LockOptions PASSING_ON = LockOptions.defaults().localHandoffs(3);

    private final ZooKeeperClient client = ZooKeeperClient.connect("127.0.0.1:1"); // where nobody listens

    @AfterEach
    void close() {
        client.close();
    }

    private static void assertRefused(ThrowingCallable making) {
        assertThatIllegalArgumentException().isThrownBy(making).withMessageContaining("localHandoffs");
    }

    @Test
    void readWriteLock_isRefused() {
        assertRefused(() -> new InterProcessReadWriteLock(client, "/rw", PASSING_ON));
    }

    @Test
    void multiLockAndItsMembers_areRefused() {
        assertRefused(() -> new InterProcessMultiLock(client, List.of("/a", "/b"), PASSING_ON));
        assertRefused(() -> new InterProcessMultiLock(
                List.of(new InterProcessMutex(client, "/a"), new InterProcessMutex(client, "/b", PASSING_ON))));
    }

    @Test
    void unorderedDriver_isRefused() {
        assertRefused(() -> new LockInternals(
                client, "/custom", new StubDriver((front, self) -> Decision.grantedIfFirst(front)), PASSING_ON));
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 2048, Integer.MAX_VALUE})
    void numberTooLargeForAToken_isRefused(int most) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockOptions.defaults().localHandoffs(most))
                .withMessageContaining("2047");
    }

    @Test
    void otherOptions_areKept() {
        LockOptions all = LockOptions.defaults()
                .localHandoffs(2047)
                .withQueueLossPolicy(QueueLossPolicy.FAIL)
                .withAcl(ZooDefs.Ids.OPEN_ACL_UNSAFE)
                .localHandoffs(1);
        assertThat(all.localHandoffs()).isEqualTo(1);
        assertThat(all.queueLossPolicy()).isEqualTo(QueueLossPolicy.FAIL);
        assertThat(all.acl()).isPresent();
        assertThat(LockOptions.defaults().localHandoffs()).isZero();
        assertThat(all.localHandoffs(0)).hasToString(all.localHandoffs(0).toString());
        assertThat(all).hasToString(all.toString()).asString().contains("1 local");
    }
}
