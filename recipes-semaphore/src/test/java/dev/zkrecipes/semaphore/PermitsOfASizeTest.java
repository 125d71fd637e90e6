// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.semaphore;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.ZooKeeperClient;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.zookeeper.ZooDefs;
import org.junit.jupiter.api.Test;

class PermitsOfASizeTest {

    @Test
    void failureOfTheApplicationsAcls_isToldAsItIs() {
        IllegalStateException failure = new IllegalStateException("the framework is closed");
        AtomicBoolean closed = new AtomicBoolean();
        try (ZooKeeperClient client = ZooKeeperClient.builder()
                .connectString("127.0.0.1:1")
                .aclByPath(path -> {
                    if (closed.get()) {
                        throw failure;
                    }
                    return ZooDefs.Ids.OPEN_ACL_UNSAFE;
                })
                .build()) {
            InterProcessSemaphore semaphore = new InterProcessSemaphore(client, "/permits", 3);
            closed.set(true);
            assertThatThrownBy(() -> semaphore.acquire(2)).isSameAs(failure);
        }
    }
}
