// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.connect;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.zookeeper.client.ZKClientConfig;

/**
 * A file of ZooKeeper client properties. {@code zookeeper.*} goes to the client and the properties of Java's security
 * (JAAS, Kerberos, TLS) to the JVM; {@code zookeeper.connect} is the connect string.
 */
final class ClientFile {
    static final String CONNECT = "zookeeper.connect";
    private static final String CLIENT = "zookeeper.";
    /**
     * {@code java.security.auth.login.config}, {@code java.security.krb5.conf} and similar ones are only read from the
     * JVM.
     */
    private static final List<String> OF_THE_JVM = List.of("java.security.", "javax.", "sun.security.");

    private final Map<String, String> properties;

    private ClientFile(Map<String, String> properties) {
        this.properties = properties;
    }

    static ClientFile read(Path file) {
        Properties read = new Properties();
        try (Reader text = Files.newBufferedReader(file)) {
            read.load(text);
        } catch (NoSuchFileException e) {
            throw new IllegalArgumentException(file + " does not exist", e);
        } catch (IOException | IllegalArgumentException e) {
            throw new IllegalArgumentException(file + " cannot be read as a properties file: " + e, e);
        }
        Map<String, String> properties = new TreeMap<>();
        for (String name : read.stringPropertyNames()) {
            Mistake.refuseByteOrderMark(name, file.toString());
            if (!name.startsWith(CLIENT) && OF_THE_JVM.stream().noneMatch(name::startsWith)) {
                throw new IllegalArgumentException(
                        file + ": '" + name + "' is neither a property of ZooKeeper's client (zookeeper.*)"
                                + " nor of Java's security (java.security.*, javax.*, sun.security.*): remove it");
            }
            properties.put(name, read.getProperty(name).strip());
        }
        return new ClientFile(properties);
    }

    Optional<String> connectString() {
        return Optional.ofNullable(properties.get(CONNECT)).filter(value -> !value.isEmpty());
    }

    /** Sets the properties of the JVM, and returns the settings of the client. */
    ZKClientConfig apply() {
        properties.forEach((name, value) -> {
            if (!name.startsWith(CLIENT)) {
                System.setProperty(name, value);
            }
        });
        ZKClientConfig config = new ZKClientConfig();
        properties.forEach((name, value) -> {
            if (name.startsWith(CLIENT) && !name.equals(CONNECT)) {
                config.setProperty(name, value);
            }
        });
        return config;
    }
}
