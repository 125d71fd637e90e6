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

/**
 * Makes {@code run}, {@code lead} and {@code hold} start quickly. It switches off what a plain command line would load
 * and never use. On a daemon thread it also initializes parts of the JDK, which takes long, while the main thread reads
 * the command line. That thread uses only classes of the JDK, because any thread may be the first to use these.
 */
final class QuickStart implements Runnable {
    private static final String[] SECURITY = {"zookeeper.", "javax.net.ssl.", "java.security."};

    private QuickStart() {}

    /**
     * Prepares this JVM for a command line. Call it before any class of ZooKeeper or any logger is used: they
     * read their system properties only once, and this method sets some of them.
     */
    static void prepare(String[] arguments) {
        // Without a named provider, slf4j would search the jar for one. With a named one, slf4j reports it on
        // standard error unless its verbosity is lower.
        setDefault("slf4j.provider", "org.slf4j.simple.SimpleServiceProvider");
        setDefault("slf4j.internal.verbosity", "WARN");
        // Java takes a login configuration from this file by default, so a user who has it may want SASL.
        Path login = Path.of(System.getProperty("user.home", ""), ".java.login.config");
        if (isPlain(arguments, System.getenv(), System.getProperties().stringPropertyNames()) && !Files.exists(login)) {
            // Only for a plain line: a file of --config may set properties that the JDK reads once, at its first use.
            Thread thread = new Thread(new QuickStart(), "head start");
            thread.setDaemon(true);
            thread.start();
            // ZooKeeper's client creates Java's default TLS context even if it does not use TLS. Without this
            // setting, Java would then read every certificate authority of the JDK.
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
     * Whether a command line needs neither TLS nor SASL. Either of them needs a file of client properties, or a
     * system property of ZooKeeper or of Java's security.
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

    /** Initializes the parts of the JDK that a run needs, by using them for the first time. */
    @Override
    public void run() {
        new SecureRandom().nextInt(); // needed for the names of lock nodes
        ClassLoader.getSystemResource("simplelogger.properties"); // opens the jar
        InetAddress.getLoopbackAddress();
        try (Selector selector = Selector.open();
                SocketChannel channel = SocketChannel.open()) {
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_CONNECT);
        } catch (IOException e) {
            // ZooKeeper's client meets the same error when it connects, and reports it.
        }
    }
}
