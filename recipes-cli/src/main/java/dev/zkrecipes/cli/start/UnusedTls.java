// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.start;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.security.KeyManagementException;
import java.security.Provider;
import java.security.SecureRandom;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLContextSpi;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocketFactory;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;

/**
 * Saves a client without TLS the cost of preparing Java for TLS. ZooKeeper's client asks Java's default context for its
 * protocols and ciphers even if it does not use TLS, and Java then reads every certificate authority of the JDK: a
 * quarter of the start of {@code zklock run}. Here it gets a default context that knows the protocols and nothing else.
 */
final class UnusedTls extends SSLContextSpi {
    private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};
    private static final String[] NO_CIPHERS = {};

    private UnusedTls() {}

    /** Sets the default context of this JVM. */
    static void spare() {
        SSLContext.setDefault(new Context());
    }

    private static final class Context extends SSLContext {
        Context() {
            super(new UnusedTls(), new NoProvider(), "none");
        }
    }

    private static final class NoProvider extends Provider {
        private static final long serialVersionUID = 1L;

        NoProvider() {
            super("zklock", "1", "a client without TLS");
        }
    }

    @Override
    protected SSLParameters engineGetSupportedSSLParameters() {
        return new SSLParameters(NO_CIPHERS, PROTOCOLS);
    }

    @Override
    protected SSLServerSocketFactory engineGetServerSocketFactory() {
        return new NoSockets();
    }

    private static final class NoSockets extends SSLServerSocketFactory {
        @Override
        public String[] getDefaultCipherSuites() {
            return NO_CIPHERS;
        }

        @Override
        public String[] getSupportedCipherSuites() {
            return NO_CIPHERS;
        }

        @Override
        public ServerSocket createServerSocket(int port) {
            throw unused();
        }

        @Override
        public ServerSocket createServerSocket(int port, int backlog) {
            throw unused();
        }

        @Override
        public ServerSocket createServerSocket(int port, int backlog, InetAddress address) {
            throw unused();
        }
    }

    @Override
    protected void engineInit(KeyManager[] keys, TrustManager[] trusted, SecureRandom random)
            throws KeyManagementException {
        throw new KeyManagementException(unused());
    }

    @Override
    protected SSLSocketFactory engineGetSocketFactory() {
        throw unused();
    }

    @Override
    protected SSLEngine engineCreateSSLEngine() {
        throw unused();
    }

    @Override
    protected SSLEngine engineCreateSSLEngine(String host, int port) {
        throw unused();
    }

    @Override
    protected SSLSessionContext engineGetServerSessionContext() {
        throw unused();
    }

    @Override
    protected SSLSessionContext engineGetClientSessionContext() {
        throw unused();
    }

    private static UnsupportedOperationException unused() {
        return new UnsupportedOperationException(
                "zklock was not told to use TLS: give a --config file that asks for it");
    }
}
