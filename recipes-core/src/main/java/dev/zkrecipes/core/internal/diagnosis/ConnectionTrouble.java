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
import java.util.Optional;
import org.apache.zookeeper.client.ZKClientConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds out why a client is not connected. ZooKeeper's client keeps trying and does not report the reason. So if the
 * client opens its own sessions and has been without a connection for a while, this class probes the servers, and
 * probes them again after growing pauses. Errors name the reason once it is known. The log names it when it changes,
 * and otherwise at most once a minute.
 *
 * <p>It also remembers the obstacle that keeps a session from being opened, such as a failed login. An obstacle takes
 * precedence over what a probe finds. Confined to the engine thread, except for {@link #error} and {@link #reason}.
 */
public final class ConnectionTrouble {
    private static final Logger log = LoggerFactory.getLogger(ConnectionTrouble.class);
    private static final Duration LONGEST_PATIENCE = Duration.ofSeconds(3); // after a loss, before the first probe
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1); // between two probes

    private static final Obstacle LOGGING_IN = new Obstacle(
            "the SASL login has not ended yet, for example as no KDC has answered so far",
            Obstacle.Kind.TEMPORARY,
            null);

    private final HandleKind kind;
    private final @Nullable ZKClientConfig config; // the TLS settings for a probe
    private final EngineScheduler scheduler;
    private Duration patience = LONGEST_PATIENCE; // shorter if requests time out earlier
    private Duration pause = LONGEST_PATIENCE; // before the next probe
    private volatile String since = "never since the client was made"; // first words of the message
    private final OnceAMinute told; // limits the log lines about probes
    private final OnceAMinute obstacles; // limits the log lines about obstacles
    private boolean over; // the client has ended
    private long quietUntil; // a short interruption is not worth a line in the log
    private @Nullable Timer timer; // starts the next probe
    private @Nullable ServerProbe probe; // under way on a thread of its own
    private volatile ServerProbe.@Nullable Finding found; // by the last probe
    private volatile @Nullable Obstacle obstacle; // the last one met, until a session shows that it is gone

    public ConnectionTrouble(HandleKind kind, @Nullable ZKClientConfig config, EngineScheduler scheduler) {
        this.kind = kind;
        this.config = config;
        this.scheduler = scheduler;
        this.told = new OnceAMinute(scheduler);
        this.obstacles = new OnceAMinute(scheduler);
    }

    /** Starts to watch for trouble. The client calls this once, when it begins to open its first session. */
    public void watch(Duration requestTimeout) {
        patience = shorter(requestTimeout, LONGEST_PATIENCE);
        begin(patience.dividedBy(4)); // early, so that a call with a short time-out names the reason, too
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    /** Records that a SASL login has begun. No session is opened before it ends, which may take long. */
    public void onLogin() {
        if (obstacle == null) {
            obstacle = LOGGING_IN;
        }
    }

    /** Records and logs why no session can be opened, or that the server refused the last one. */
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

    /**
     * Forgets the obstacle, because a new session begins. If the server refused the last session, it may refuse this
     * one in the same way, so that obstacle stays until {@link #onConnected}.
     */
    public void onSession() {
        if (!Obstacle.REFUSED.equals(obstacle)) {
            obstacle = null;
        }
    }

    /** Whether a probe has found a server that serves clients, although this client has no connection. */
    public boolean hasSeenAServer() {
        ServerProbe.Finding known = found;
        return known != null && known.serves();
    }

    /** Stops the diagnosis: there is a connection, so there is nothing left to find out. */
    public void onConnected() {
        stop();
        obstacle = null;
        told.forget();
    }

    /** Starts the diagnosis of a lost connection, unless one is under way. */
    public void onDisconnected() {
        if (!over && timer == null && probe == null) {
            since = "since the connection was lost";
            begin(patience);
        }
    }

    /** Stops for good, because the client has ended: no probe may keep a thread or a socket. */
    public void end() {
        over = true;
        stop();
    }

    /**
     * Schedules the first probe. The servers of an application's handle are not probed, because only the application
     * knows them.
     */
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

    /**
     * Probes the servers on a thread of its own, because a probe blocks for seconds, and schedules the next probe.
     */
    private void look(HandleKind.Opened servers) {
        timer = null;
        ServerProbe begun = new ServerProbe(ConnectString.servers(servers.connectString()), config);
        probe = begun;
        EngineThreads.start("zkrecipes-diagnosis-", () -> {
            ServerProbe.Finding finding = begun.run();
            scheduler.execute(() -> {
                if (probe == begun) { // otherwise it was stopped: there is a connection, or the client is closed
                    probe = null;
                    tell(finding);
                    timer = scheduler.schedule(pause, () -> look(servers));
                    pause = shorter(pause.multipliedBy(2), LONGEST_PAUSE);
                }
            });
        });
    }

    /**
     * Keeps a finding for error messages. Logs it if it is trouble and news, unless the connection was lost just
     * recently.
     */
    private void tell(ServerProbe.Finding finding) {
        found = finding;
        if (scheduler.nanoTime() - quietUntil >= 0 && finding.isTrouble() && told.isNews(inWords(finding))) {
            log.warn("Not connected to ZooKeeper{}.", inWords(finding));
        }
    }

    private String inWords(ServerProbe.Finding finding) {
        return " (" + since + ": " + finding.text() + "; the log of org.apache.zookeeper.ClientCnxn tells more)";
    }

    /**
     * Returns an error about the missing connection, with the reason if it is known. {@code consequence} says what it
     * means for the caller, and what to do. May be called from any thread.
     */
    public LockException error(String consequence) {
        Obstacle met = obstacle;
        if (met != null) {
            return met.error(": there is no connection to ZooKeeper" + consequence);
        }
        ServerProbe.Finding known = found;
        return lacksConnection(
                known, "not connected to ZooKeeper" + (known == null ? "" : inWords(known)) + consequence);
    }

    /**
     * Returns only the reason why there is no connection, or empty while it is not known. May be called from any
     * thread.
     */
    public Optional<LockException> reason() {
        Obstacle met = obstacle;
        if (met != null) {
            return Optional.of(met.error(""));
        }
        return Optional.ofNullable(found).map(known -> lacksConnection(known, known.text()));
    }

    private static LockException lacksConnection(ServerProbe.@Nullable Finding known, String message) {
        return new LockConnectionException(message, known == null ? null : known.cause());
    }
}
