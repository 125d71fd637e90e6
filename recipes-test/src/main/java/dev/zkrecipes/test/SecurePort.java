// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;
import org.apache.zookeeper.server.auth.ProviderRegistry;
import org.apache.zookeeper.server.auth.X509AuthenticationProvider;
import org.jspecify.annotations.Nullable;

/**
 * A second port of a running {@link EmbeddedZooKeeper} that speaks TLS and asks clients for a certificate.
 *
 * <p>ZooKeeper reads the key store and trust store of the server from system properties whenever a client connects, and
 * its client uses the same properties by default. They are set while the port is open. So only one secure port can be
 * open in a JVM, and the configuration of a client should name its own stores. The identity of a client for ACLs is the
 * name in its certificate, for example {@code x509:CN=client}. Watch events sent through this port are not counted.
 */
public final class SecurePort implements AutoCloseable {
    private static final String FACTORY = ServerCnxnFactory.ZOOKEEPER_SERVER_CNXN_FACTORY;
    private static final String SCHEME = "x509";
    private static final String PROVIDER = ProviderRegistry.AUTHPROVIDER_PROPERTY_PREFIX + SCHEME;
    private static final Object ONE_AT_A_TIME = new Object();
    private static boolean open; // guarded by ONE_AT_A_TIME

    private final ServerCnxnFactory connections;
    private final Map<String, @Nullable String> before = new HashMap<>(); // the system properties to restore
    private boolean closed;

    private SecurePort(ServerCnxnFactory connections) {
        this.connections = connections;
    }

    static SecurePort open(ZooKeeperServer server, TlsKeys keys) throws IOException {
        synchronized (ONE_AT_A_TIME) {
            if (open) {
                throw new IllegalStateException("a secure port is open in this JVM already");
            }
            SecurePort port = new SecurePort(nettyConnections());
            int unlimited = 0;
            port.connections.configure(new InetSocketAddress(LoopbackPort.loopback(), 0), unlimited, -1, true);
            keys.storeSettings().forEach(port::set);
            // This provider checks the certificates itself and makes the owner's name an identity for ACLs, such as
            // x509:CN=client.
            port.set(PROVIDER, X509AuthenticationProvider.class.getName());
            ProviderRegistry.addOrUpdateProvider(PROVIDER);
            try {
                port.connections.startup(server, false);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IOException("interrupted while opening a secure port", e);
            }
            open = true;
            return port;
        }
    }

    private void set(String name, String value) {
        before.put(name, System.setProperty(name, value));
    }

    /**
     * Creates a factory of connections that speak TLS. A system property is the only way to choose ZooKeeper's factory
     * class.
     */
    private static ServerCnxnFactory nettyConnections() throws IOException {
        String other = System.setProperty(FACTORY, "org.apache.zookeeper.server.NettyServerCnxnFactory");
        try {
            return ServerCnxnFactory.createFactory();
        } finally {
            restore(FACTORY, other);
        }
    }

    private static void restore(String name, @Nullable String value) {
        if (value == null) {
            System.clearProperty(name);
        } else {
            System.setProperty(name, value);
        }
    }

    /** {@return the connect string for a client, {@code 127.0.0.1:port}} */
    public String connectString() {
        return "127.0.0.1:" + connections.getLocalPort();
    }

    /** Closes the port and its connections; the server keeps running. Closing twice does nothing. */
    @Override
    public void close() {
        synchronized (ONE_AT_A_TIME) {
            if (!closed) {
                closed = true;
                open = false;
                connections.setZooKeeperServer(null); // otherwise shutdown() would stop the server, too
                connections.shutdown();
                ProviderRegistry.removeProvider(SCHEME);
                before.forEach(SecurePort::restore);
            }
        }
    }
}
