// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.examples;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import java.nio.charset.StandardCharsets;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.Test;

/** The code of {@code docs/security.md} is the code of these tests. */
class SecurityDocTest {
    // Not run: the names would be looked up. MutexAclIT and MutexTlsIT do the same on a server.
    static InterProcessMutex digest() {
        LockOptions mine = LockOptions.defaults().withAcl(ZooDefs.Ids.CREATOR_ALL_ACL);
        ZooKeeperClient client = ZooKeeperClient.builder()
                .connectString("zk1:2181,zk2:2181,zk3:2181/app")
                .auth("digest", "orders:a password from the vault".getBytes(StandardCharsets.UTF_8))
                .build();
        InterProcessMutex mutex = new InterProcessMutex(client, "/locks/orders", mine);
        return mutex;
    }

    // Not run either.
    static ZooKeeperClient sasl() {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty("zookeeper.sasl.clientconfig", "Orders");
        ZooKeeperClient client = ZooKeeperClient.builder()
                .connectString("zk1:2181")
                .clientConfig(config)
                .build();
        return client;
    }

    @Test
    void tls_isRefusedWithoutItsStore() {
        assertThatIllegalArgumentException()
                .isThrownBy(SecurityDocTest::tls)
                .withMessageContaining("/etc/orders/client.p12");
    }

    private static ZooKeeperClient tls() {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty("zookeeper.client.secure", "true");
        config.setProperty("zookeeper.clientCnxnSocket", "org.apache.zookeeper.ClientCnxnSocketNetty");
        config.setProperty("zookeeper.ssl.keyStore.location", "/etc/orders/client.p12");
        config.setProperty("zookeeper.ssl.keyStore.password", "from the vault");
        config.setProperty("zookeeper.ssl.trustStore.location", "/etc/orders/servers.p12");
        config.setProperty("zookeeper.ssl.trustStore.password", "from the vault");
        ZooKeeperClient client = ZooKeeperClient.builder()
                .connectString("zk1:2281,zk2:2281,zk3:2281")
                .clientConfig(config)
                .build();
        return client;
    }
}
