// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.connect;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.zookeeper.client.ZKClientConfig;

/**
 * A file of ZooKeeper client properties. {@code zookeeper.connect} is the connect string, and every other
 * {@code zookeeper.*} is a setting of ZooKeeper's client. Properties of Java's security (JAAS, Kerberos, TLS) become
 * system properties of this JVM, because Java reads them only there.
 */
record ClientFile(Properties properties) {
    static final String CONNECT = "zookeeper.connect";
    private static final String CLIENT = "zookeeper.";
    private static final List<String> OF_THE_JVM = List.of("java.security.", "javax.", "sun.security.");

    static ClientFile read(Path file) {
        Properties properties = new Properties();
        try (Reader text = Files.newBufferedReader(file)) {
            properties.load(text);
        } catch (NoSuchFileException e) {
            throw new IllegalArgumentException(file + " does not exist", e);
        } catch (IOException | IllegalArgumentException e) {
            throw new IllegalArgumentException(file + " cannot be read as a properties file: " + e, e);
        }
        for (String name : properties.stringPropertyNames()) {
            Mistake.refuseByteOrderMark(name, file.toString());
            if (!name.startsWith(CLIENT) && OF_THE_JVM.stream().noneMatch(name::startsWith)) {
                throw new IllegalArgumentException(
                        file + ": '" + name + "' is neither a property of ZooKeeper's client (zookeeper.*)"
                                + " nor of Java's security (java.security.*, javax.*, sun.security.*): remove it");
            }
        }
        return new ClientFile(properties);
    }

    Optional<String> connectString() {
        return Optional.of(properties.getProperty(CONNECT, "").strip()).filter(value -> !value.isEmpty());
    }

    /** Whether the file contains a password, and not only the name of another file with the password. */
    boolean hasSecrets() {
        return properties.stringPropertyNames().stream()
                .anyMatch(name -> name.toLowerCase(Locale.ROOT).endsWith("password"));
    }

    /** Sets the properties of the JVM, and returns the settings of the client. */
    ZKClientConfig apply() {
        Map<String, String> ofTheClient = new TreeMap<>();
        for (String name : properties.stringPropertyNames()) {
            String value = properties.getProperty(name).strip();
            if (!name.startsWith(CLIENT)) {
                System.setProperty(name, value);
            } else if (!name.equals(CONNECT)) {
                ofTheClient.put(name, value);
            }
        }
        ZKClientConfig config = new ZKClientConfig(); // reads system properties, so those are set first
        ofTheClient.forEach(config::setProperty);
        return config;
    }
}
