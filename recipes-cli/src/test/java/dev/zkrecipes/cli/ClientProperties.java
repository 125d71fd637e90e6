// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli;

import dev.zkrecipes.test.TlsKeys;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Properties;
import java.util.stream.Stream;
import org.apache.zookeeper.client.ZKClientConfig;

/** The file of {@code --config} for a client with a certificate. */
public final class ClientProperties {
    private ClientProperties() {}

    /** Returns the name of the file. */
    public static String of(TlsKeys keys, String servers, Path folder) throws IOException {
        ZKClientConfig config = keys.clientConfig();
        Properties properties = new Properties();
        properties.setProperty("zookeeper.connect", servers);
        Stream.of(
                        "client.secure",
                        "clientCnxnSocket",
                        "ssl.keyStore.location",
                        "ssl.keyStore.password",
                        "ssl.trustStore.location",
                        "ssl.trustStore.password")
                .map(name -> "zookeeper." + name)
                .forEach(name -> properties.setProperty(name, config.getProperty(name)));
        Path file = folder.resolve("client.properties");
        try (Writer writer = Files.newBufferedWriter(file)) {
            properties.store(writer, null);
        }
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        return file.toString();
    }
}
