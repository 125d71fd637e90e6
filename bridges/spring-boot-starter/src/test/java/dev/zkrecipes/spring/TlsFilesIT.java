// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.SecurePort;
import dev.zkrecipes.test.TlsKeys;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.ssl.DefaultSslBundleRegistry;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundleKey;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.ssl.SslOptions;
import org.springframework.boot.ssl.SslStoreBundle;
import org.springframework.boot.ssl.pem.PemSslStoreBundle;
import org.springframework.boot.ssl.pem.PemSslStoreDetails;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** SSL bundles of Spring Boot, at a server that asks for certificates. */
@Timeout(600)
@WithZooKeeper
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ResourceLock("the secure port")
class TlsFilesIT {
    private final ApplicationContextRunner boot = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(SslAutoConfiguration.class, ZkRecipesAutoConfiguration.class));

    private EmbeddedZooKeeper server;
    private SecurePort port;
    private TlsKeys first;
    private TlsKeys second;

    /** The server's keys are system properties while the port is open, which a bundle must not take for its own. */
    @BeforeAll
    void openPort(EmbeddedZooKeeper started, @TempDir Path folder) {
        server = started;
        TlsKeys serverKeys = TlsKeys.make(folder, "server");
        first = TlsKeys.make(folder, "first");
        second = TlsKeys.make(folder, "second");
        serverKeys.trust(first, second);
        first.trust(serverKeys);
        second.trust(serverKeys);
        port = server.openSecurePort(serverKeys);
    }

    @AfterAll
    void close() {
        port.close();
    }

    private static String setting(TlsKeys keys, String name) {
        return keys.clientConfig().getProperty("zookeeper.ssl." + name);
    }

    private static KeyStore load(TlsKeys keys, String store) throws Exception {
        KeyStore loaded = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(Path.of(setting(keys, store + ".location")))) {
            loaded.load(in, setting(keys, store + ".password").toCharArray());
        }
        return loaded;
    }

    private static SslStoreBundle stores(TlsKeys keys) throws Exception {
        return SslStoreBundle.of(load(keys, "keyStore"), setting(keys, "keyStore.password"), load(keys, "trustStore"));
    }

    private ApplicationContextRunner withBundle(SslBundles bundles) {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(ZkRecipesAutoConfiguration.class))
                .withBean(SslBundles.class, () -> bundles)
                .withPropertyValues(
                        "zkrecipes.connect-string=" + port.connectString(),
                        "zkrecipes.ssl.bundle=zk",
                        "zkrecipes.acl=creator");
    }

    /** The identity with which the client creates a lock. */
    private static String identity(ZooKeeperClient client, String path) throws Exception {
        new InterProcessMutex(client, path).acquire().close();
        List<ACL> acl = client.zooKeeper().orElseThrow().getACL(path, new Stat());
        return acl.get(0).getId().getScheme() + ":" + acl.get(0).getId().getId();
    }

    @Test
    void bundleOfProperties_isTheIdentityOfTheClient() {
        List<String> properties = new ArrayList<>(List.of(
                "zkrecipes.connect-string=" + port.connectString(),
                "zkrecipes.ssl.bundle=zk",
                "zkrecipes.acl=creator"));
        for (String store : List.of("keyStore", "trustStore")) {
            String prefix = "spring.ssl.bundle.jks.zk." + store.toLowerCase(Locale.ROOT);
            properties.add(prefix + ".location=file:" + setting(first, store + ".location"));
            properties.add(prefix + ".password=" + setting(first, store + ".password"));
        }
        boot.withPropertyValues(properties.toArray(String[]::new))
                .run(context -> assertThat(identity(context.getBean(ZooKeeperClient.class), "/of-properties"))
                        .isEqualTo("x509:CN=first"));
    }

    /** It has no password; of two keys, the bundle names one. */
    @Test
    void pemBundle_andKeyWithAnAlias_work() throws Exception {
        KeyStore keys = load(first, "keyStore");
        Base64.Encoder lines = Base64.getMimeEncoder();
        PemSslStoreDetails ofKey = PemSslStoreDetails.forCertificate(pem(
                        "CERTIFICATE",
                        lines.encodeToString(keys.getCertificate("first").getEncoded())))
                .withPrivateKey(pem(
                        "PRIVATE KEY",
                        lines.encodeToString(keys.getKey(
                                        "first",
                                        setting(first, "keyStore.password").toCharArray())
                                .getEncoded())));
        KeyStore trusted = load(first, "trustStore");
        PemSslStoreDetails ofTrust = PemSslStoreDetails.forCertificate(pem(
                "CERTIFICATE",
                lines.encodeToString(trusted.getCertificate("server").getEncoded())));
        withBundle(new DefaultSslBundleRegistry("zk", SslBundle.of(new PemSslStoreBundle(ofKey, ofTrust))))
                .run(context -> assertThat(identity(context.getBean(ZooKeeperClient.class), "/of-pem"))
                        .isEqualTo("x509:CN=first"));

        KeyStore both = KeyStore.getInstance("PKCS12");
        both.load(null, null);
        char[] password = "of the keys".toCharArray();
        for (TlsKeys each : List.of(first, second)) {
            KeyStore from = load(each, "keyStore");
            String alias = Collections.list(from.aliases()).get(0);
            both.setKeyEntry(
                    alias,
                    from.getKey(alias, setting(each, "keyStore.password").toCharArray()),
                    password,
                    from.getCertificateChain(alias));
        }
        SslBundle second = SslBundle.of(
                SslStoreBundle.of(both, "of the store", trusted), SslBundleKey.of("of the keys", "second"));
        withBundle(new DefaultSslBundleRegistry("zk", second))
                .run(context -> assertThat(identity(context.getBean(ZooKeeperClient.class), "/of-alias"))
                        .isEqualTo("x509:CN=second"));
    }

    private static String pem(String kind, String lines) {
        return "-----BEGIN " + kind + "-----\n" + lines + "\n-----END " + kind + "-----\n";
    }

    @Test
    void reloadedBundle_isUsedFromTheNextConnectionOn_andOneThatCannotBeUsedIsNot() throws Exception {
        DefaultSslBundleRegistry bundles = new DefaultSslBundleRegistry("zk", SslBundle.of(stores(first)));
        withBundle(bundles).run(context -> {
            ZooKeeperClient client = context.getBean(ZooKeeperClient.class);
            assertThat(identity(client, "/reload-1")).isEqualTo("x509:CN=first");
            bundles.updateBundle("zk", SslBundle.of(stores(second)));
            assertThat(identity(client, "/reload-2"))
                    .as("on the connection that stands")
                    .isEqualTo("x509:CN=first");
            SslBundle locked = SslBundle.of(stores(first), SslBundleKey.of("a guess"));
            bundles.updateBundle("zk", locked);
            AtomicInteger names = new AtomicInteger(2);
            server.expireSession(client.zooKeeper().orElseThrow().getSessionId());
            Soon.await()
                    .ignoreExceptions()
                    .until(() -> identity(client, "/reload-" + names.incrementAndGet())
                            .equals("x509:CN=second"));
        });
    }

    @Test
    void settingsOfTheBundle_reachTheClient_inFilesThatAreGoneInTheEnd() throws Exception {
        SslBundle bundle = SslBundle.of(
                stores(first),
                SslBundleKey.NONE,
                SslOptions.of(
                        new String[] {"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"}, new String[] {"TLSv1.3"}),
                "TLSv1.3");
        Path[] folder = new Path[1];
        withBundle(new DefaultSslBundleRegistry("zk", bundle)).run(context -> {
            ZooKeeperClient client = context.getBean(ZooKeeperClient.class);
            assertThat(identity(client, "/of-options")).isEqualTo("x509:CN=first");
            ZKClientConfig config = client.zooKeeper().orElseThrow().getClientConfig();
            assertThat(config.getProperty("zookeeper.ssl.ciphersuites"))
                    .isEqualTo("TLS_AES_128_GCM_SHA256,TLS_AES_256_GCM_SHA384");
            assertThat(config.getProperty("zookeeper.ssl.enabledProtocols")).isEqualTo("TLSv1.3");
            assertThat(config.getProperty("zookeeper.ssl.protocol")).isEqualTo("TLSv1.3");
            Path keys = Path.of(config.getProperty("zookeeper.ssl.keyStore.location"));
            folder[0] = keys.getParent();
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(keys)))
                    .isEqualTo("rw-------");
            assertThat(folder[0]).isDirectoryContaining("glob:**/trustStore");
        });
        assertThat(folder[0]).doesNotExist();
    }

    /** Such as those that come from system properties. */
    @Test
    void settingsThatTheBundleDoesNotHave_areRemoved() throws Exception {
        ZKClientConfig config = new ZKClientConfig();
        List<String> others = List.of(
                "zookeeper.ssl.keyStore.passwordPath",
                "zookeeper.ssl.trustStore.passwordPath",
                "zookeeper.ssl.context.supplier.class",
                "zookeeper.ssl.protocol",
                "zookeeper.ssl.enabledProtocols",
                "zookeeper.ssl.ciphersuites");
        others.forEach(name -> config.setProperty(name, "another"));
        FirstAndLast last = new FirstAndLast();
        TlsFiles.configure(config, new DefaultSslBundleRegistry("zk", SslBundle.of(stores(first))), "zk", last);
        assertThat(others).allMatch(name -> config.getProperty(name) == null);
        last.destroy();
    }

    @Test
    void bundleThatCannotBeOpened_failsTheStart_byItsProperty() throws Exception {
        SslBundle locked = SslBundle.of(stores(first), SslBundleKey.of("a guess"));
        withBundle(new DefaultSslBundleRegistry("zk", locked))
                .run(context ->
                        assertThat(context.getStartupFailure()).hasStackTraceContaining("zkrecipes.ssl.bundle"));
    }
}
