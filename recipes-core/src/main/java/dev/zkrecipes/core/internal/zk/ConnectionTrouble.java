// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import com.google.common.base.Splitter;
import com.google.common.net.HostAndPort;
import dev.zkrecipes.core.internal.thread.EngineThreads;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Why a client that opens its own sessions has never been connected. ZooKeeper's client goes on trying and keeps the
 * reason to itself; so after a while this one is logged, once, with what to check, and errors tell it from then on. If
 * TLS is on, a handshake of our own finds out what ZooKeeper's client stumbles over.
 */
public final class ConnectionTrouble {
    private static final Logger log = LoggerFactory.getLogger(ConnectionTrouble.class);
    private static final Duration LONGEST_PATIENCE = Duration.ofSeconds(3);

    private final String connectString;
    private final @Nullable ZKClientConfig config;
    private final EngineScheduler scheduler;
    private boolean over;
    private volatile String told = "";

    public ConnectionTrouble(String connectString, @Nullable ZKClientConfig config, EngineScheduler scheduler) {
        this.connectString = connectString;
        this.config = config;
        this.scheduler = scheduler;
    }

    /** Begins to wait; to be called once, when the first session is being opened. */
    public void watch(Duration requestTimeout) {
        Duration patience = requestTimeout.compareTo(LONGEST_PATIENCE) < 0 ? requestTimeout : LONGEST_PATIENCE;
        scheduler.schedule(patience, this::look);
    }

    /** There is nothing to find out any more: connected, or closed. On the engine thread. */
    public void end() {
        over = true;
        told = "";
    }

    /** To be put behind "not connected to ZooKeeper"; empty if nothing is known yet, or the client was connected before. */
    public String told() {
        return told;
    }

    private void look() {
        ZKClientConfig secure = config != null && TlsSettings.isOn(config) ? config : null;
        if (over) {
            return;
        }
        if (secure == null) {
            tell(
                    "if it is a port for TLS, set zookeeper.client.secure and the key and trust stores in the clientConfig");
        } else {
            EngineThreads.diagnosing(() -> {
                Optional<String> trouble = firstTrouble(secure);
                scheduler.execute(() -> tell(trouble.orElse("a TLS handshake succeeds")
                        + "; the server must trust the certificate in the key store, and the trust store the server's;"
                        + " if it is a port without TLS, unset zookeeper.client.secure"));
            });
        }
    }

    private Optional<String> firstTrouble(ZKClientConfig secure) {
        String servers = connectString.substring(
                0, connectString.length() - ConnectString.chroot(connectString).length());
        List<String> all = Splitter.on(',').splitToList(servers);
        return all.stream()
                .map(HostAndPort::fromString)
                .flatMap(
                        server -> TlsSettings.trouble(secure, server.getHost(), server.getPort())
                                .map(trouble -> server + ": " + trouble)
                                .stream())
                .findFirst();
    }

    private void tell(String what) {
        if (!over) {
            told = " (never since the client was made: check the address " + connectString
                    + " and that the server runs; " + what + "; the log of org.apache.zookeeper.ClientCnxn tells more)";
            log.warn("Not connected to ZooKeeper yet{}.", told);
        }
    }
}
