// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.util.FileSystemUtils;
import org.springframework.util.StringUtils;

/**
 * An SSL bundle as ZooKeeper's client takes it: in files, as 3.9 ignores a supplier of an SSLContext (ZOOKEEPER-4828).
 * Only this user may read them, and the password of the key is only in memory. The client reads them for each
 * connection, so the next one uses a bundle that was reloaded.
 */
record TlsFiles(Path folder, String password) {
    private static final String TYPE = "PKCS12";

    /** Whether the bundle decides about this setting of ZooKeeper's client. */
    static boolean sets(String property) {
        return property.matches("zookeeper[.](client[.]secure|"
                + "ssl[.](keyStore|trustStore|context|protocol|enabledProtocols|ciphersuites).*)");
    }

    /** Makes the client use the bundle. Its files are there until the end of the context. */
    static void configure(ZKClientConfig config, SslBundles bundles, String name, FirstAndLast last)
            throws IOException, GeneralSecurityException {
        SslBundle bundle = bundles.getBundle(name);
        TlsFiles files = new TlsFiles(
                Files.createTempDirectory("zkrecipes-tls"), UUID.randomUUID().toString());
        last.addEnd(() -> FileSystemUtils.deleteRecursively(files.folder.toFile()));
        files.write(bundle);
        files.addTo(config, bundle);
        bundles.addBundleUpdateHandler(name, files::update);
    }

    private void addTo(ZKClientConfig config, SslBundle bundle) {
        config.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
        if (config.getProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET) == null) {
            config.setProperty(
                    ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, "org.apache.zookeeper.ClientCnxnSocketNetty");
        }
        for (String store : List.of("keyStore", "trustStore")) {
            Path file = folder.resolve(store);
            set(config, store + ".location", Files.exists(file) ? file.toString() : null);
            set(config, store + ".type", TYPE);
            set(config, store + ".password", password);
            set(config, store + ".passwordPath", null);
        }
        set(config, "protocol", bundle.getProtocol().equals(SslBundle.DEFAULT_PROTOCOL) ? null : bundle.getProtocol());
        set(
                config,
                "enabledProtocols",
                StringUtils.arrayToCommaDelimitedString(bundle.getOptions().getEnabledProtocols()));
        set(
                config,
                "ciphersuites",
                StringUtils.arrayToCommaDelimitedString(bundle.getOptions().getCiphers()));
    }

    /** Null or nothing is as if the setting was not there, also as a system property. */
    private static void set(ZKClientConfig config, String name, @Nullable String value) {
        config.setProperty("zookeeper.ssl." + name, StringUtils.hasLength(value) ? value : null);
    }

    private void update(SslBundle bundle) {
        try {
            write(bundle);
        } catch (IOException | GeneralSecurityException | RuntimeException e) {
            LoggerFactory.getLogger(TlsFiles.class)
                    .warn("The SSL bundle that was reloaded is not used for ZooKeeper: the one before it stays.", e);
        }
    }

    private void write(SslBundle bundle) throws IOException, GeneralSecurityException {
        KeyStore from = bundle.getStores().getKeyStore();
        if (from != null) {
            bundle.getKey().assertContainsAlias(from);
            String wanted = bundle.getKey().getAlias();
            String ofKey = bundle.getKey().getPassword();
            String opens = ofKey == null ? bundle.getStores().getKeyStorePassword() : ofKey;
            KeyStore keys = empty();
            for (String alias : wanted == null ? Collections.list(from.aliases()) : List.of(wanted)) {
                if (from.isKeyEntry(alias)) {
                    keys.setKeyEntry(
                            alias,
                            from.getKey(alias, opens == null ? null : opens.toCharArray()),
                            password.toCharArray(),
                            from.getCertificateChain(alias));
                }
            }
            store(keys, "keyStore");
        }
        from = bundle.getStores().getTrustStore();
        if (from != null) {
            KeyStore trusted = empty();
            for (String alias : Collections.list(from.aliases())) {
                trusted.setCertificateEntry(alias, from.getCertificate(alias));
            }
            store(trusted, "trustStore");
        }
    }

    private static KeyStore empty() throws IOException, GeneralSecurityException {
        KeyStore made = KeyStore.getInstance(TYPE);
        made.load(null, null);
        return made;
    }

    /** The client sees the old file or the new one, never a part. */
    private void store(KeyStore made, String name) throws IOException, GeneralSecurityException {
        Path file = Files.createTempFile(folder, name, null);
        try (OutputStream out = Files.newOutputStream(file)) {
            made.store(out, password.toCharArray());
        }
        Files.move(file, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    }
}
