// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Starts an {@link EmbeddedZooKeeper} with other settings. Not thread-safe.
 *
 * <pre>{@code
 * EmbeddedZooKeeper server = EmbeddedZooKeeper.builder().tickTime(Duration.ofMillis(100)).start();
 * }</pre>
 */
public final class EmbeddedZooKeeperBuilder {
    private Duration tickTime = Duration.ofMillis(500);
    private Duration minSessionTimeout = Duration.ofSeconds(1);
    private Duration maxSessionTimeout = Duration.ofSeconds(60);
    private Duration containerCheckInterval = Duration.ofSeconds(60);
    private boolean fsync;
    private int port;
    private @Nullable Path dataDirectory;

    EmbeddedZooKeeperBuilder() {}

    /**
     * Sets how often the server looks for expired sessions: one expires up to a tick late. 500 ms by default.
     *
     * @param interval 1 ms or more
     * @return this
     */
    public EmbeddedZooKeeperBuilder tickTime(Duration interval) {
        tickTime = interval;
        return this;
    }

    /**
     * Sets the shortest session time-out that the server agrees to. 1 s by default.
     *
     * @param timeout 1 ms or more
     * @return this
     */
    public EmbeddedZooKeeperBuilder minSessionTimeout(Duration timeout) {
        minSessionTimeout = timeout;
        return this;
    }

    /**
     * Sets the longest session time-out that the server agrees to. 60 s by default.
     *
     * @param timeout not shorter than the shortest
     * @return this
     */
    public EmbeddedZooKeeperBuilder maxSessionTimeout(Duration timeout) {
        maxSessionTimeout = timeout;
        return this;
    }

    /**
     * Sets how often the server removes containers that have become empty. 60 s by default, as in ZooKeeper. A
     * shorter interval makes parents vanish between two calls; {@link EmbeddedZooKeeper#reapContainers()} does that on
     * demand.
     *
     * @param interval 1 ms or more
     * @return this
     */
    public EmbeddedZooKeeperBuilder containerCheckInterval(Duration interval) {
        containerCheckInterval = interval;
        return this;
    }

    /**
     * Sets whether each write is forced to disk before it is answered. Off by default, for speed. While the log of a
     * server without it is opened, the system property {@code zookeeper.forceSync} is set for that moment.
     *
     * @param force whether to
     * @return this
     */
    public EmbeddedZooKeeperBuilder fsync(boolean force) {
        fsync = force;
        return this;
    }

    /**
     * Sets the port of 127.0.0.1 to listen on. 0 by default, which is one that the system chooses: better for tests, as
     * a fixed port may be in use.
     *
     * @param number 0 to 65535
     * @return this
     */
    public EmbeddedZooKeeperBuilder port(int number) {
        port = number;
        return this;
    }

    /**
     * Sets where the data are kept; it is not removed at the end. A temporary directory by default, which is.
     *
     * @param directory made if it does not exist
     * @return this
     */
    public EmbeddedZooKeeperBuilder dataDirectory(Path directory) {
        dataDirectory = directory;
        return this;
    }

    /**
     * Starts the server.
     *
     * @return the running server
     * @throws IllegalArgumentException if a setting is out of its range
     * @throws UncheckedIOException if it cannot be started
     */
    public EmbeddedZooKeeper start() {
        return EmbeddedZooKeeper.start(new ServerSettings(
                tickTime, minSessionTimeout, maxSessionTimeout, containerCheckInterval, fsync, port, dataDirectory));
    }
}
