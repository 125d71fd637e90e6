// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.diagnosis;

import dev.zkrecipes.core.LockConnectionException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.thread.EngineThreads;
import dev.zkrecipes.core.internal.zk.ConnectString;
import dev.zkrecipes.core.internal.zk.HandleKind;
import dev.zkrecipes.core.internal.zk.Obstacle;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.EngineScheduler.Timer;
import java.time.Duration;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Why a client is not connected. ZooKeeper's client keeps trying and does not report the reason. So if the client opens
 * its own sessions, then after a while without a connection the servers are probed, and again from time to time. Errors
 * name the reason once it is known; it is logged at most once a minute, and when it changes. Confined to the engine
 * thread, but for {@link #error}.
 */
public final class ConnectionTrouble {
    private static final Logger log = LoggerFactory.getLogger(ConnectionTrouble.class);
    private static final Duration LONGEST_PATIENCE = Duration.ofSeconds(3);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

    private static final Obstacle LOGGING_IN = new Obstacle(
            "the SASL login has not ended yet, for example as no KDC has answered so far",
            Obstacle.Kind.TEMPORARY,
            null);

    private final HandleKind kind;
    private final @Nullable ZKClientConfig config;
    private final EngineScheduler scheduler;
    private Duration patience = LONGEST_PATIENCE;
    private Duration pause = LONGEST_PATIENCE;
    private String since = "never since the client was made";
    private final OnceAMinute told;
    private final OnceAMinute obstacles;
    private boolean over;
    private long quietUntil;
    private @Nullable Timer timer;
    private @Nullable ServerProbe probe;
    private volatile ServerProbe.@Nullable Finding found; // as errors tell it
    private volatile @Nullable Obstacle obstacle; // the last, until there is a session that does not look like it

    public ConnectionTrouble(HandleKind kind, @Nullable ZKClientConfig config, EngineScheduler scheduler) {
        this.kind = kind;
        this.config = config;
        this.scheduler = scheduler;
        this.told = new OnceAMinute(scheduler);
        this.obstacles = new OnceAMinute(scheduler);
    }

    /** Begins to wait; to be called once, when the first session is being opened. */
    public void watch(Duration requestTimeout) {
        patience = shorter(requestTimeout, LONGEST_PATIENCE);
        begin(patience.dividedBy(4)); // so that a short wait can tell, too
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    /** Before a session is opened, a login has begun, which may take long. */
    public void onLogin() {
        if (obstacle == null) {
            obstacle = LOGGING_IN;
        }
    }

    /** No session can be opened, or the last was refused. */
    public void onObstacle(Obstacle met) {
        obstacle = met;
        if (obstacles.isNews(met.text())) {
            log.warn(
                    "There is no ZooKeeper session, and {}: {}.{}",
                    met.isForGood() ? "acquires fail" : "acquires wait",
                    met.text(),
                    kind.ownsSessions() ? " Tried again after pauses of up to a minute." : "");
        }
    }

    /** A session was opened. If the last was refused, only a connection shows that this one is not. */
    public void onSession() {
        if (!Obstacle.REFUSED.equals(obstacle)) {
            obstacle = null;
        }
    }

    /** Whether a server was seen to serve, since there is no connection. */
    public boolean hasSeenAServer() {
        ServerProbe.Finding known = found;
        return known != null && known.serves();
    }

    public void onConnected() {
        stop();
        obstacle = null;
        told.forget();
    }

    public void onDisconnected() {
        if (!over && timer == null && probe == null) {
            since = "since the connection was lost";
            begin(patience);
        }
    }

    public void end() {
        over = true;
        stop();
    }

    private void begin(Duration delay) {
        if (kind instanceof HandleKind.Opened opened) {
            quietUntil = scheduler.nanoTime() + patience.toNanos();
            pause = patience;
            timer = scheduler.schedule(delay, () -> look(opened));
        }
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

    private void look(HandleKind.Opened servers) {
        timer = null;
        ServerProbe begun = new ServerProbe(ConnectString.servers(servers.connectString()), config);
        probe = begun;
        EngineThreads.start("zkrecipes-diagnosis-", () -> {
            ServerProbe.Finding finding = begun.run();
            scheduler.execute(() -> {
                if (probe == begun) { // otherwise there is a connection, or the client is closed
                    probe = null;
                    tell(finding);
                    timer = scheduler.schedule(pause, () -> look(servers));
                    pause = shorter(pause.multipliedBy(2), LONGEST_PAUSE);
                }
            });
        });
    }

    private void tell(ServerProbe.Finding finding) {
        String text = " (" + since + ": " + finding.text() + "; the log of org.apache.zookeeper.ClientCnxn tells more)";
        found = new ServerProbe.Finding(text, finding.isTrouble(), finding.serves(), "", finding.cause());
        if (scheduler.nanoTime() - quietUntil >= 0 && finding.isTrouble() && told.isNews(text)) {
            log.warn("Not connected to ZooKeeper{}.", text);
        }
    }

    /** An error that tells of the missing connection, and then of the consequence and what to do. Any thread. */
    public LockException error(String consequence) {
        Obstacle met = obstacle;
        if (met != null) {
            return met.error(": there is no connection to ZooKeeper" + consequence);
        }
        ServerProbe.Finding known = found;
        String message = "not connected to ZooKeeper" + (known == null ? "" : known.text()) + consequence;
        Throwable cause = known == null ? null : known.cause();
        return cause == null ? new LockConnectionException(message) : new LockConnectionException(message, cause);
    }
}
