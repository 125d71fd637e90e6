// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Starts an {@link EmbeddedZooKeeper} with settings other than the defaults. Not thread-safe.
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
     * Sets how often the server checks for expired sessions. A session expires up to one tick late. 500 ms by default.
     *
     * @param interval 1 ms or more
     * @return this builder
     */
    public EmbeddedZooKeeperBuilder tickTime(Duration interval) {
        tickTime = interval;
        return this;
    }

    /**
     * Sets the shortest session time-out that the server grants. 1 s by default.
     *
     * @param timeout 1 ms or more
     * @return this builder
     */
    public EmbeddedZooKeeperBuilder minSessionTimeout(Duration timeout) {
        minSessionTimeout = timeout;
        return this;
    }

    /**
     * Sets the longest session time-out that the server grants. 60 s by default.
     *
     * @param timeout not shorter than the shortest time-out
     * @return this builder
     */
    public EmbeddedZooKeeperBuilder maxSessionTimeout(Duration timeout) {
        maxSessionTimeout = timeout;
        return this;
    }

    /**
     * Sets how often the server removes containers that have become empty. 60 s by default, as in ZooKeeper. With a
     * shorter interval, parents may disappear between two calls of a client; {@link EmbeddedZooKeeper#reapContainers()}
     * removes them on demand.
     *
     * @param interval 1 ms or more
     * @return this builder
     */
    public EmbeddedZooKeeperBuilder containerCheckInterval(Duration interval) {
        containerCheckInterval = interval;
        return this;
    }

    /**
     * Sets whether each write is forced to disk before it is answered. Off by default, for speed. If it is off, the
     * system property {@code zookeeper.forceSync} is set while the server opens its log.
     *
     * @param force whether to force writes to disk
     * @return this builder
     */
    public EmbeddedZooKeeperBuilder fsync(boolean force) {
        fsync = force;
        return this;
    }

    /**
     * Sets the port of 127.0.0.1 to listen on. By default, or with 0, the operating system chooses a free port. That
     * is better for tests, because a fixed port may be in use.
     *
     * @param number 0 to 65535
     * @return this builder
     */
    public EmbeddedZooKeeperBuilder port(int number) {
        port = number;
        return this;
    }

    /**
     * Sets the directory for the data of the server. The directory is kept when the server is closed. The default is a
     * temporary directory, which is removed.
     *
     * @param directory created if it does not exist
     * @return this builder
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
     * @throws UncheckedIOException if the server cannot be started
     */
    public EmbeddedZooKeeper start() {
        return EmbeddedZooKeeper.start(new ServerSettings(
                tickTime, minSessionTimeout, maxSessionTimeout, containerCheckInterval, fsync, port, dataDirectory));
    }
}
