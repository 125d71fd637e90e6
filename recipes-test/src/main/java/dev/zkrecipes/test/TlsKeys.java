// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import com.google.common.base.Splitter;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.zookeeper.client.ZKClientConfig;

/**
 * A key with a certificate for 127.0.0.1, and the certificates that its owner trusts. The {@code keytool} of this JDK
 * creates them; they are valid for one day.
 *
 * <pre>{@code
 * TlsKeys serverKeys = TlsKeys.make(folder, "server");
 * TlsKeys clientKeys = TlsKeys.make(folder, "client");
 * serverKeys.trust(clientKeys);
 * clientKeys.trust(serverKeys);
 * try (SecurePort port = server.openSecurePort(serverKeys)) {
 *     ZKClientConfig config = clientKeys.clientConfig();
 *     ...
 * }
 * }</pre>
 */
public final class TlsKeys {
    private static final String AUTHORITY = "authority";
    private static final String PASSWORD = "secret";
    private static final String TYPE = "PKCS12";
    private static final long LIMIT_SECONDS = 60;
    private static final List<String> OPTIONS = Splitter.on(' ')
            .splitToList("-J-XX:TieredStopAtLevel=1 -genkeypair -keyalg EC -groupname secp256r1 -validity 1"
                    + " -ext san=ip:127.0.0.1,dns:localhost -storetype " + TYPE + " -storepass " + PASSWORD);

    private final Path folder;
    private final String name;

    private TlsKeys(Path folder, String name) {
        this.folder = folder;
        this.name = name;
    }

    /**
     * Creates a key with a self-signed certificate. This takes about a second.
     *
     * @param folder the folder for the key store and the trust store
     * @param name the name of the owner, unique in the folder
     * @return the keys, whose owner trusts nobody yet
     * @throws UncheckedIOException if the keys cannot be created
     */
    public static TlsKeys make(Path folder, String name) {
        TlsKeys keys = new TlsKeys(Objects.requireNonNull(folder, "folder"), Objects.requireNonNull(name, "name"));
        keys.runKeytool(name);
        keys.trust();
        return keys;
    }

    /**
     * Creates a key whose certificate is signed by its own authority. Whoever trusts the owner trusts that authority.
     * Options can make the certificate expired ({@code -startdate -3d}) or valid for another host ({@code -ext
     * san=dns:other.example}).
     *
     * @param folder the folder for the key store and the trust store
     * @param name the name of the owner, unique in the folder
     * @param options additional options for keytool's {@code -genkeypair}
     * @return the keys, whose owner trusts nobody yet
     * @throws UncheckedIOException if the keys cannot be created
     */
    public static TlsKeys signed(Path folder, String name, String... options) {
        Objects.requireNonNull(options, "options");
        TlsKeys keys = new TlsKeys(Objects.requireNonNull(folder, "folder"), Objects.requireNonNull(name, "name"));
        keys.runKeytool(AUTHORITY, "-ext", "bc:c");
        keys.runKeytool(
                name,
                Stream.concat(Stream.of("-signer", AUTHORITY), Stream.of(options))
                        .toArray(String[]::new));
        try {
            KeyStore store = keys.load();
            store.deleteEntry(AUTHORITY);
            write(store, keys.keyStore());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("cannot write " + keys.keyStore(), e);
        }
        keys.trust();
        return keys;
    }

    private void runKeytool(String alias, String... options) {
        List<String> command = new ArrayList<>(OPTIONS);
        command.add(
                0, Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(List.of(
                "-alias",
                alias,
                "-dname",
                "CN=" + alias,
                "-keystore",
                keyStore().toString()));
        command.addAll(List.of(options));
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            process.getOutputStream().close();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IOException("keytool failed: " + said);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot make keys of " + name, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while making keys of " + name, e);
        }
    }

    /**
     * Makes the owner trust these certificates and no others.
     *
     * @param others the owners of the certificates to accept
     * @throws UncheckedIOException if the trust store cannot be written
     */
    public void trust(TlsKeys... others) {
        try {
            KeyStore trusted = KeyStore.getInstance(TYPE);
            trusted.load(null, null);
            for (TlsKeys other : others) {
                Certificate[] chain = other.load().getCertificateChain(other.name);
                trusted.setCertificateEntry(other.name, chain[chain.length - 1]);
            }
            write(trusted, trustStore());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("cannot write " + trustStore(), e);
        }
    }

    private static void write(KeyStore store, Path file) throws IOException, GeneralSecurityException {
        try (OutputStream out = Files.newOutputStream(file)) {
            store.store(out, PASSWORD.toCharArray());
        }
    }

    private KeyStore load() throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance(TYPE);
        try (InputStream in = Files.newInputStream(keyStore())) {
            store.load(in, PASSWORD.toCharArray());
        }
        return store;
    }

    private Path keyStore() {
        return folder.resolve(name + "-key.p12");
    }

    private Path trustStore() {
        return folder.resolve(name + "-trust.p12");
    }

    /** {@return the settings of a ZooKeeper client that speaks TLS with these keys} */
    public ZKClientConfig clientConfig() {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKClientConfig.SECURE_CLIENT, "true");
        config.setProperty(ZKClientConfig.ZOOKEEPER_CLIENT_CNXN_SOCKET, "org.apache.zookeeper.ClientCnxnSocketNetty");
        storeSettings().forEach(config::setProperty);
        return config;
    }

    /**
     * Returns the locations and passwords of both stores, under the names of ZooKeeper's settings, which are the same
     * for servers and clients.
     */
    Map<String, String> storeSettings() {
        return Map.of(
                "zookeeper.ssl.keyStore.location",
                keyStore().toString(),
                "zookeeper.ssl.keyStore.password",
                PASSWORD,
                "zookeeper.ssl.trustStore.location",
                trustStore().toString(),
                "zookeeper.ssl.trustStore.password",
                PASSWORD);
    }
}
