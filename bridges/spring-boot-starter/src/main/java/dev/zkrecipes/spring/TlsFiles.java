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
import java.security.cert.Certificate;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundleKey;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.ssl.SslOptions;
import org.springframework.boot.ssl.SslStoreBundle;
import org.springframework.util.FileSystemUtils;
import org.springframework.util.StringUtils;

/**
 * The key store and the trust store of an SSL bundle, written to files. ZooKeeper's client reads its keys from files
 * only; 3.9 ignores a supplier of an SSLContext (ZOOKEEPER-4828). Only this user may read the files, and the password
 * that encrypts the key exists only in memory. The client reads the files each time it connects, so the next connection
 * uses a reloaded bundle.
 */
final class TlsFiles {
    private static final String TYPE = "PKCS12";
    private static final Logger log = LoggerFactory.getLogger(TlsFiles.class);

    private final Path folder = Files.createTempDirectory("zkrecipes-tls");
    private final String password = UUID.randomUUID().toString();

    private TlsFiles() throws IOException {}

    /** Whether a bundle determines the value of this setting of ZooKeeper's client. */
    static boolean sets(String property) {
        return property.matches("zookeeper[.](client[.]secure|"
                + "ssl[.](keyStore|trustStore|context|protocol|enabledProtocols|ciphersuites).*)");
    }

    /** Makes the client use the bundle, and follow its reloads. The files are deleted when the context has closed. */
    static void configure(ZKClientConfig config, SslBundles bundles, String name, FirstAndLast last)
            throws IOException, GeneralSecurityException {
        SslBundle bundle = bundles.getBundle(name);
        TlsFiles files = new TlsFiles();
        last.addEnd(() -> FileSystemUtils.deleteRecursively(files.folder.toFile()));
        files.write(bundle);
        files.addTo(config, bundle);
        bundles.addBundleUpdateHandler(name, files::update);
    }

    private void addTo(ZKClientConfig config, SslBundle bundle) {
        String socket = ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET;
        config.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
        config.setProperty(socket, config.getProperty(socket, "org.apache.zookeeper.ClientCnxnSocketNetty"));
        for (String store : List.of("keyStore", "trustStore")) {
            Path file = folder.resolve(store);
            set(config, store + ".location", Files.exists(file) ? file.toString() : null);
            set(config, store + ".type", TYPE);
            set(config, store + ".password", password);
            set(config, store + ".passwordPath", null);
        }
        SslOptions options = bundle.getOptions();
        set(config, "context.supplier.class", null);
        set(config, "protocol", bundle.getProtocol().equals(SslBundle.DEFAULT_PROTOCOL) ? null : bundle.getProtocol());
        set(config, "enabledProtocols", StringUtils.arrayToCommaDelimitedString(options.getEnabledProtocols()));
        set(config, "ciphersuites", StringUtils.arrayToCommaDelimitedString(options.getCiphers()));
    }

    /**
     * Changes a setting of ZooKeeper's client. Null or an empty text removes a value that came from a system property.
     */
    private static void set(ZKClientConfig config, String name, @Nullable String value) {
        config.setProperty("zookeeper.ssl." + name, StringUtils.hasLength(value) ? value : null);
    }

    /**
     * Writes a reloaded bundle. Throws nothing, because an exception would end Boot's thread that watches the files of
     * bundles.
     */
    private void update(SslBundle bundle) {
        try {
            write(bundle);
        } catch (IOException | GeneralSecurityException | RuntimeException e) {
            log.warn("The reloaded SSL bundle cannot be used for ZooKeeper, which keeps the old one: correct it.", e);
        }
    }

    private void write(SslBundle bundle) throws IOException, GeneralSecurityException {
        SslStoreBundle stores = bundle.getStores();
        SslBundleKey key = bundle.getKey();
        KeyStore from = stores.getKeyStore();
        if (from != null) {
            key.assertContainsAlias(from);
            String opens = key.getPassword() == null ? stores.getKeyStorePassword() : key.getPassword();
            char @Nullable [] given = opens == null ? null : opens.toCharArray();
            KeyStore copy = empty();
            for (String alias : key.getAlias() == null ? Collections.list(from.aliases()) : List.of(key.getAlias())) {
                if (from.isKeyEntry(alias)) {
                    Certificate[] chain = from.getCertificateChain(alias);
                    copy.setKeyEntry(alias, from.getKey(alias, given), password.toCharArray(), chain);
                }
            }
            store(copy, "keyStore");
        }
        KeyStore trusted = stores.getTrustStore();
        if (trusted != null) {
            KeyStore copy = empty();
            for (String alias : Collections.list(trusted.aliases())) {
                copy.setCertificateEntry(alias, trusted.getCertificate(alias));
            }
            store(copy, "trustStore");
        }
    }

    private static KeyStore empty() throws IOException, GeneralSecurityException {
        KeyStore made = KeyStore.getInstance(TYPE);
        made.load(null, null);
        return made;
    }

    /** Replaces the file atomically: a client that connects meanwhile reads either the old file or the new one. */
    private void store(KeyStore made, String name) throws IOException, GeneralSecurityException {
        Path file = Files.createTempFile(folder, name, null);
        try (OutputStream out = Files.newOutputStream(file)) {
            made.store(out, password.toCharArray());
        }
        Files.move(file, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE);
    }
}
