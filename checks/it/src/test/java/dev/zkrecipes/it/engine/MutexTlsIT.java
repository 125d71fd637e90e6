// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockAccessException;
import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.SecurePort;
import dev.zkrecipes.test.TlsKeys;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A server that asks for certificates, which this test makes. */
@Timeout(600)
@WithZooKeeper
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ResourceLock("the secure port")
class MutexTlsIT {
    private static final String TRUST_STORE = "zookeeper.ssl.trustStore.location";
    private static final String KEY_STORE = "zookeeper.ssl.keyStore.location";

    private EmbeddedZooKeeper server;
    private SecurePort port;
    private TlsKeys clientKeys;
    private TlsKeys serverKeys;
    private TlsKeys strangersKeys;
    private TlsKeys expiredKeys;
    private TlsKeys elsewhereKeys;

    @BeforeAll
    void makeKeys(EmbeddedZooKeeper started, @TempDir Path folder) {
        server = started;
        CompletableFuture<TlsKeys> expired = make(() -> TlsKeys.signed(folder, "expired", "-startdate", "-3d"));
        CompletableFuture<TlsKeys> elsewhere =
                make(() -> TlsKeys.signed(folder, "elsewhere", "-ext", "san=dns:other.example"));
        List<CompletableFuture<TlsKeys>> making = List.of("server", "client", "stranger").stream()
                .map(name -> make(() -> TlsKeys.make(folder, name)))
                .toList();
        serverKeys = making.get(0).join();
        clientKeys = making.get(1).join();
        strangersKeys = making.get(2).join();
        expiredKeys = expired.join();
        elsewhereKeys = elsewhere.join();
        serverKeys.trust(clientKeys, expiredKeys);
        clientKeys.trust(serverKeys, expiredKeys, elsewhereKeys);
        expiredKeys.trust(clientKeys);
        elsewhereKeys.trust(clientKeys);
        strangersKeys.trust(strangersKeys);
        port = server.openSecurePort(serverKeys);
    }

    private static CompletableFuture<TlsKeys> make(Supplier<TlsKeys> keys) {
        return CompletableFuture.supplyAsync(keys, task -> new Thread(task, "keytool").start());
    }

    @AfterAll
    void close() {
        port.close();
    }

    private ZooKeeperClientBuilder builder() {
        return ZooKeeperClient.builder().connectString(port.connectString()).sessionTimeout(Duration.ofSeconds(60));
    }

    /** For clients that get no answer. */
    private ZooKeeperClientBuilder refused() {
        return builder().requestTimeout(Duration.ofMillis(300));
    }

    @Test
    void trustedCertificates_work() throws Exception {
        try (ZooKeeperClient client = Identity.connected(builder().clientConfig(clientKeys.clientConfig()));
                Lease lease = new InterProcessMutex(client, "/tls/lock").acquire()) {
            lease.verify();
            Soon.await().until(lease::isValid);
            assertThat(new InterProcessMutex(client, "/tls/lock").participants())
                    .hasSize(1);
        }
    }

    @Test
    @Tag("H139")
    void passwordsInFilesOfTheirOwn_work(@TempDir Path folder) throws Exception {
        ZKClientConfig config = clientKeys.clientConfig();
        for (String store : List.of("zookeeper.ssl.keyStore.", "zookeeper.ssl.trustStore.")) {
            Path file = Files.writeString(folder.resolve(store), config.getProperty(store + "password"));
            config.setProperty(store + "password", null);
            config.setProperty(store + "passwordPath", file.toString());
        }
        try (ZooKeeperClient client = Identity.connected(builder().clientConfig(config))) {
            new InterProcessMutex(client, "/tls/files").acquire().close();
        }
    }

    @Test
    void certificate_isAnIdentityForTheAclOfALock() throws Exception {
        LockOptions options = LockOptions.defaults().withAcl(ZooDefs.Ids.CREATOR_ALL_ACL);
        try (ZooKeeperClient client = Identity.connected(builder().clientConfig(clientKeys.clientConfig()));
                ZooKeeperClient nobody =
                        Identity.connected(ZooKeeperClient.builder().connectString(server.connectString()));
                Lease lease = new InterProcessMutex(client, "/tls-mine", options).acquire()) {
            lease.verify();
            assertThat(Identity.plain(client).getACL("/tls-mine", null))
                    .containsExactly(new ACL(ZooDefs.Perms.ALL, new Id("x509", "CN=client")));
            assertThatThrownBy(new InterProcessMutex(nobody, "/tls-mine")::acquire)
                    .isInstanceOf(LockAccessException.class);
        }
    }

    /** Settings of a client with these keys that trusts what the owner of the others trusts. */
    private static ZKClientConfig config(TlsKeys keys, TlsKeys trust) {
        ZKClientConfig config = keys.clientConfig();
        config.setProperty(TRUST_STORE, trust.clientConfig().getProperty(TRUST_STORE));
        return config;
    }

    /** Tries until the client has found out why there is no connection; on a slow machine it may look more than once. */
    private static void assertRefused(ZooKeeperClient client, String... words) throws InterruptedException {
        InterProcessMutex mutex = new InterProcessMutex(client, "/tls/refused");
        Soon.await()
                .atMost(Duration.ofSeconds(120))
                .untilAsserted(() -> assertThatThrownBy(mutex::tryAcquire)
                        .isInstanceOf(LockConnectionException.class)
                        .hasMessageContaining("never since the client was made")
                        .hasMessageContainingAll(words));
        assertThat(client.awaitConnected(Duration.ZERO)).isFalse();
        assertThatThrownBy(() -> mutex.tryAcquire(Duration.ofMillis(10)))
                .isInstanceOf(LockConnectionException.class)
                .hasMessageContaining("never since the client was made");
        assertThatThrownBy(mutex::participants).hasMessageContaining("never since the client was made");
    }

    @Test
    void untrustedClientCertificate_isRefused_andTheErrorSaysSo() throws Exception {
        try (ZooKeeperClient client =
                refused().clientConfig(config(strangersKeys, clientKeys)).build()) {
            assertRefused(client, port.connectString() + ": the TLS handshake failed: ", "certificate");
        }
    }

    /** The server's alert is read even if it has closed the connection before all was sent to it. */
    @Test
    @Tag("H142")
    void expiredClientCertificate_isRefused_andTheErrorSaysSo() throws Exception {
        try (ZooKeeperClient client =
                refused().clientConfig(config(expiredKeys, clientKeys)).build()) {
            assertRefused(client, "the TLS handshake failed: ", "Received fatal alert: certificate_");
        }
    }

    @Test
    @Tag("H142")
    void serverCertificateOfAnotherHost_orThatHasExpired_isRefused() throws Exception {
        port.close(); // there can be one
        try {
            try (SecurePort other = server.openSecurePort(elsewhereKeys);
                    ZooKeeperClient client = refusedAt(other)) {
                assertRefused(client, "the TLS handshake failed: ", "No subject alternative names");
            }
            try (SecurePort other = server.openSecurePort(expiredKeys);
                    ZooKeeperClient client = refusedAt(other)) {
                assertRefused(client, "the TLS handshake failed: ", "validity");
            }
        } finally {
            port = server.openSecurePort(serverKeys);
        }
    }

    private ZooKeeperClient refusedAt(SecurePort other) {
        return ZooKeeperClient.builder()
                .connectString(other.connectString())
                .requestTimeout(Duration.ofMillis(300))
                .clientConfig(clientKeys.clientConfig())
                .build();
    }

    @Test
    void untrustedServer_isRefused_andTheErrorSaysSo() throws Exception {
        try (ZooKeeperClient client =
                refused().clientConfig(config(clientKeys, strangersKeys)).build()) {
            assertRefused(client, "the TLS handshake failed: ", "PKIX path");
        }
    }

    @Test
    void plainClientAtASecurePort_learnsTheMissingSetting() throws Exception {
        try (ZooKeeperClient client = refused().build()) {
            assertRefused(
                    client,
                    port.connectString() + " speaks TLS, and this client does not: set zookeeper.client.secure");
        }
    }

    @Test
    void tlsClientAtAPlainPort_learnsTheWrongSetting() throws Exception {
        try (ZooKeeperClient client = ZooKeeperClient.builder()
                .connectString(server.connectString())
                .requestTimeout(Duration.ofMillis(300))
                .clientConfig(clientKeys.clientConfig())
                .build()) {
            assertRefused(
                    client,
                    server.connectString() + " speaks ZooKeeper without TLS, and this client uses TLS",
                    "unset zookeeper.client.secure");
        }
    }

    @Test
    void unreadableStores_areRefusedBeforeAnythingIsSent() {
        ZKClientConfig missing = clientKeys.clientConfig();
        missing.setProperty(KEY_STORE, "/not/there.p12");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder().clientConfig(missing))
                .withMessageContaining("/not/there.p12")
                .withMessageContaining("key store");
        ZKClientConfig locked = clientKeys.clientConfig();
        locked.setProperty("zookeeper.ssl.trustStore.password", "a guess");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder().clientConfig(locked))
                .withMessageContaining("password")
                .withMessageNotContaining("a guess");
    }

    @Test
    void tlsOverAPlainSocket_isRefused() {
        ZKClientConfig plain = clientKeys.clientConfig();
        plain.setProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, "org.apache.zookeeper.ClientCnxnSocketNIO");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder().clientConfig(plain))
                .withMessageContaining("does not speak TLS")
                .withMessageContaining("org.apache.zookeeper.ClientCnxnSocketNetty");
    }

    @Test
    void configuration_reachesTheHandle() throws Exception {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY, "Orders");
        config.setProperty(ZKClientConfig.ENABLE_CLIENT_SASL_KEY, "false");
        try (ZooKeeperClient client = Identity.connected(
                ZooKeeperClient.builder().connectString(server.connectString()).clientConfig(config))) {
            ZKClientConfig reached = Identity.plain(client).getClientConfig();
            assertThat(reached.getProperty(ZKClientConfig.LOGIN_CONTEXT_NAME_KEY))
                    .isEqualTo("Orders");
            assertThat(reached.isSaslClientEnabled()).isFalse();
        }
    }
}
