// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import java.nio.charset.StandardCharsets;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.server.auth.DigestAuthenticationProvider;

/** A user of the scheme digest. */
record Identity(String user) {
    private String credentials() {
        return user + ":secret of " + user;
    }

    /** Rights of this user only. */
    List<ACL> acl(int perms) {
        try {
            return List.of(
                    new ACL(perms, new Id("digest", DigestAuthenticationProvider.generateDigest(credentials()))));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-1", e);
        }
    }

    ZooKeeperClient connect(String connectString) throws InterruptedException {
        return connected(builder(connectString));
    }

    ZooKeeperClientBuilder builder(String connectString) {
        return ZooKeeperClient.builder()
                .connectString(connectString)
                .sessionTimeout(Duration.ofSeconds(60))
                .ownerLabel("client of " + user)
                .auth("digest", credentials().getBytes(StandardCharsets.UTF_8));
    }

    static ZooKeeperClient connected(ZooKeeperClientBuilder builder) throws InterruptedException {
        ZooKeeperClient client = builder.build();
        assertThat(client.awaitConnected(Duration.ofSeconds(120))).isTrue();
        // Behind the credentials, which are sent after the client is connected, and perhaps twice: no test counts them.
        CountDownLatch answered = new CountDownLatch(1);
        plain(client).exists("/", false, (rc, path, ctx, stat) -> answered.countDown(), null);
        assertThat(answered.await(120, TimeUnit.SECONDS)).isTrue();
        return client;
    }

    static ZooKeeper plain(ZooKeeperClient client) {
        return client.zooKeeper().orElseThrow();
    }
}
