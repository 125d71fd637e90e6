// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.internal.thread.EngineThreads;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.time.Duration;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Why a client that opens its own sessions is not connected. ZooKeeper's client keeps trying and does not report the
 * reason. So after a while without a connection the servers are probed, and again from time to time. Errors name the
 * reason once it is known; it is logged once. Confined to the engine thread, but for {@link #error}.
 */
public final class ConnectionTrouble {
    private static final Logger log = LoggerFactory.getLogger(ConnectionTrouble.class);
    private static final Duration LONGEST_PATIENCE = Duration.ofSeconds(3);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);
    private static final String NOT_CONNECTED = "not connected to ZooKeeper";

    private final HandleKind.Opened servers;
    private final @Nullable ZKClientConfig config;
    private final EngineScheduler scheduler;
    private Duration patience = LONGEST_PATIENCE;
    private Duration pause = LONGEST_PATIENCE;
    private String since = "never since the client was made";
    private String logged = "";
    private boolean over;
    private long quietUntil;
    private @Nullable Timer timer;
    private @Nullable ServerProbe probe;
    private volatile @Nullable Found found;

    /** What errors tell, and what caused it, if that was an error. */
    private record Found(String text, @Nullable Throwable cause) {}

    public ConnectionTrouble(HandleKind.Opened servers, @Nullable ZKClientConfig config, EngineScheduler scheduler) {
        this.servers = servers;
        this.config = config;
        this.scheduler = scheduler;
    }

    /** Begins to wait; to be called once, when the first session is being opened. */
    public void watch(Duration requestTimeout) {
        patience = requestTimeout.compareTo(LONGEST_PATIENCE) < 0 ? requestTimeout : LONGEST_PATIENCE;
        begin(patience.dividedBy(4)); // so that a short wait can tell, too
    }

    /** There is a connection, and nothing to find out. */
    public void onConnected() {
        stop();
        logged = "";
    }

    /** There is none any more. */
    public void onDisconnected() {
        if (!over && timer == null && probe == null) {
            since = "since the connection was lost";
            begin(patience);
        }
    }

    /** The client is closed. */
    public void end() {
        over = true;
        stop();
    }

    private void begin(Duration delay) {
        quietUntil = scheduler.nanoTime() + patience.toNanos();
        pause = patience;
        timer = scheduler.schedule(delay, this::look);
    }

    private void stop() {
        found = null;
        if (timer != null) {
            timer.cancel();
            timer = null;
        }
        if (probe != null) {
            probe.close();
            probe = null;
        }
    }

    private void look() {
        timer = null;
        ServerProbe begun = new ServerProbe(ConnectString.servers(servers.connectString()), config);
        probe = begun;
        EngineThreads.diagnosing(() -> {
            ServerProbe.Finding finding = begun.run();
            scheduler.execute(() -> tell(begun, finding));
        });
    }

    private void tell(ServerProbe from, ServerProbe.Finding finding) {
        if (probe != from) {
            return; // connected, or closed
        }
        probe = null;
        String text = " (" + since + ": " + finding.text() + "; the log of org.apache.zookeeper.ClientCnxn tells more)";
        found = new Found(text, finding.cause());
        boolean isDue = scheduler.nanoTime() - quietUntil >= 0;
        if (isDue && finding.isTrouble() && !logged.equals(text)) {
            logged = text;
            log.warn("Not connected to ZooKeeper{}.", text);
        }
        timer = scheduler.schedule(pause, this::look);
        pause = pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0 ? pause.multipliedBy(2) : LONGEST_PAUSE;
    }

    /**
     * An error that tells of the missing connection. Any thread.
     *
     * @param consequence what follows from that, and what to do
     */
    public LockConnectionException error(String consequence) {
        Found known = found;
        if (known == null) {
            return unexplained(consequence);
        }
        String message = NOT_CONNECTED + known.text() + consequence;
        Throwable cause = known.cause();
        return cause == null ? new LockConnectionException(message) : new LockConnectionException(message, cause);
    }

    /** The error where nothing can be found out. */
    public static LockConnectionException unexplained(String consequence) {
        return new LockConnectionException(NOT_CONNECTED + consequence);
    }
}
