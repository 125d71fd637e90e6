// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.start;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;

/**
 * Leaves out what a short run would load and never use, and begins early with what takes long. Call it before any class
 * of ZooKeeper or a logger is used.
 */
public final class QuickStart {
    private static final String[] SECURITY = {"zookeeper.", "javax.net.ssl.", "java.security."};

    private QuickStart() {}

    /**
     * Prepares this JVM for a command line.
     *
     * @param arguments the command line
     */
    public static void prepare(String[] arguments) {
        // Otherwise slf4j searches the jar for providers.
        setDefault("slf4j.provider", "org.slf4j.simple.SimpleServiceProvider");
        setDefault("slf4j.internal.verbosity", "WARN");
        Path login = Path.of(System.getProperty("user.home", ""), ".java.login.config");
        if (isPlain(arguments, System.getenv(), System.getProperties().stringPropertyNames()) && !Files.exists(login)) {
            HeadStart.begin(); // not with --config, whose file may set properties that the JDK reads first
            // ZooKeeper's client makes Java's default context for TLS even if it does not use it, and that reads every
            // certificate authority of the JDK.
            setDefault("javax.net.ssl.trustStore", "NONE");
            System.setProperty("zookeeper.sasl.client", "false");
        }
    }

    private static void setDefault(String name, String value) {
        if (System.getProperty(name) == null) {
            System.setProperty(name, value);
        }
    }

    /**
     * Whether nothing asks for TLS or SASL: no file of client properties, and no system property of ZooKeeper or of
     * Java's security.
     *
     * @param arguments the command line
     * @param environment the variables
     * @param system the names of the system properties
     */
    static boolean isPlain(String[] arguments, Map<String, String> environment, Set<String> system) {
        for (String argument : arguments) {
            if (argument.startsWith("--config")) {
                return false;
            }
        }
        for (String name : system) {
            for (String prefix : SECURITY) {
                if (name.startsWith(prefix)) {
                    return false;
                }
            }
        }
        return !environment.containsKey("ZKLOCK_CONFIG");
    }
}
