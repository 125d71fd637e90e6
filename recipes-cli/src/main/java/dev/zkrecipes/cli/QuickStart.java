// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Map;
import java.util.Set;

/** Leaves out what a short run would load and never use, and begins early with what takes long. */
final class QuickStart implements Runnable {
    private static final String[] SECURITY = {"zookeeper.", "javax.net.ssl.", "java.security."};

    private QuickStart() {}

    /** Prepares this JVM for a command line, before any class of ZooKeeper or a logger is used. */
    static void prepare(String[] arguments) {
        // Otherwise slf4j searches the jar for providers.
        setDefault("slf4j.provider", "org.slf4j.simple.SimpleServiceProvider");
        setDefault("slf4j.internal.verbosity", "WARN");
        Path login = Path.of(System.getProperty("user.home", ""), ".java.login.config");
        if (isPlain(arguments, System.getenv(), System.getProperties().stringPropertyNames()) && !Files.exists(login)) {
            Thread thread = new Thread(new QuickStart(), "head start");
            thread.setDaemon(true);
            thread.start(); // not with --config, whose file may set properties that the JDK reads first
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

    /** Uses for the first time, while the command line is read, what the JDK prepares at its first use. */
    @Override
    public void run() {
        new SecureRandom().nextInt(); // for the names of nodes
        ClassLoader.getSystemResource("simplelogger.properties"); // opens the jar
        InetAddress.getLoopbackAddress();
        try (Selector selector = Selector.open();
                SocketChannel channel = SocketChannel.open()) {
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_CONNECT);
        } catch (IOException e) {
            // Whoever needs one will say so.
        }
    }
}
