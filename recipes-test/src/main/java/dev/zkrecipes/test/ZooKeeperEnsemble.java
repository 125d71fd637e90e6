// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import com.google.common.io.MoreFiles;
import com.google.common.io.RecursiveDeleteOption;
import dev.zkrecipes.test.internal.ChildJvms;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/**
 * Three real ZooKeeper servers, each in its own JVM, on ports of 127.0.0.1 chosen by the operating system. Servers can
 * be killed and restarted, and cut off from their clients or from their leader.
 *
 * <pre>{@code
 * try (ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start()) {
 *     EnsembleServer leader = ensemble.leader();
 *     EnsembleServer follower = ensemble.followers().get(0);
 *     ZooKeeper zooKeeper = new ZooKeeper(follower.connectString(), 2_000, event -> {});
 *     follower.cutFrom(leader);       // it continues to answer reads
 *     ...
 *     ensemble.heal();
 * }
 * }</pre>
 *
 * <p>A tick lasts 200 ms, and session time-outs are from 1 s to 30 s. Nothing is forced to disk, so the data survives
 * the end of a process but not a crash of the machine. The processes end with this JVM, however it ends;
 * {@link #close()} removes the data.
 *
 * <p>Instances are thread-safe.
 */
public final class ZooKeeperEnsemble implements AutoCloseable {
    /**
     * How long a follower continues to serve if it hears nothing from its leader, and how long a leader continues to
     * lead if it hears nothing from its followers.
     */
    public static final Duration SYNC_LIMIT = Duration.ofSeconds(20);

    private static final Duration TICK = Duration.ofMillis(200);
    private static final int SIZE = 3;
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration LOOK_EVERY = Duration.ofMillis(50);
    private static final List<String> SETTINGS = List.of(
            "tickTime=" + TICK.toMillis(),
            "initLimit=" + Duration.ofSeconds(10).dividedBy(TICK),
            "syncLimit=" + SYNC_LIMIT.dividedBy(TICK),
            "minSessionTimeout=1000",
            "maxSessionTimeout=30000",
            "maxClientCnxns=0",
            "admin.enableServer=false",
            "4lw.commands.whitelist=srvr",
            "forceSync=no",
            // Without this setting, a server that joins an election late may have to wait for a minute until it is
            // heard.
            "fastleader.maxNotificationInterval=500");

    private final Path directory;
    private final ChildJvms processes = new ChildJvms();
    private final List<EnsembleServer> servers = new ArrayList<>();

    private ZooKeeperEnsemble() throws IOException {
        this.directory = Files.createTempDirectory("zookeeper-ensemble-");
    }

    /**
     * Starts three servers and waits until one of them leads and the others follow.
     *
     * @return the running ensemble
     * @throws UncheckedIOException if the ensemble cannot be started
     */
    public static ZooKeeperEnsemble start() {
        return start(List.of());
    }

    /**
     * Starts an ensemble as {@link #start()} does, with additional settings. For example, with {@code syncLimit=5} a
     * follower notices a silent leader before a session ends.
     *
     * @param settings lines of {@code zoo.cfg}; each replaces the default setting of the same name
     * @return the running ensemble
     * @throws UncheckedIOException if the ensemble cannot be started
     */
    public static ZooKeeperEnsemble start(List<String> settings) {
        Objects.requireNonNull(settings, "settings");
        try {
            ZooKeeperEnsemble ensemble = new ZooKeeperEnsemble();
            try {
                ensemble.launch(settings);
                return ensemble;
            } catch (IOException | RuntimeException e) {
                ensemble.close();
                throw e;
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start an ensemble: " + e.getMessage(), e);
        }
    }

    private void launch(List<String> settings) throws IOException {
        List<String> lines = Stream.concat(SETTINGS.stream(), settings.stream()).toList();
        for (int number = 1; number <= SIZE; number++) {
            servers.add(new EnsembleServer(number, directory.resolve(String.valueOf(number)), processes));
        }
        for (EnsembleServer server : servers) {
            server.configure(lines, servers);
        }
        servers.forEach(EnsembleServer::restart);
        awaitComplete();
    }

    /** {@return a connect string that names all three servers} */
    public String connectString() {
        return servers.stream().map(EnsembleServer::connectString).collect(Collectors.joining(","));
    }

    /** {@return all three servers, in the order of their numbers} */
    public List<EnsembleServer> servers() {
        return List.copyOf(servers);
    }

    /**
     * Waits until exactly one server believes that it leads.
     *
     * @return the leader
     */
    public EnsembleServer leader() {
        return Awaitility.await("one leader")
                .pollDelay(Duration.ZERO)
                .pollInterval(LOOK_EVERY)
                .atMost(LIMIT)
                .until(() -> with(ServerRole.LEADER), leaders -> leaders.size() == 1)
                .get(0);
    }

    /** {@return the servers that currently report that they follow} */
    public List<EnsembleServer> followers() {
        return with(ServerRole.FOLLOWER);
    }

    private List<EnsembleServer> with(ServerRole role) {
        return servers.stream().filter(server -> server.role() == role).toList();
    }

    /** Waits until one server leads and all others follow. */
    public void awaitComplete() {
        Awaitility.await("a leader and " + (SIZE - 1) + " followers")
                .pollDelay(Duration.ZERO)
                .pollInterval(LOOK_EVERY)
                .atMost(LIMIT)
                .until(() -> with(ServerRole.LEADER).size() == 1
                        && with(ServerRole.FOLLOWER).size() == SIZE - 1);
    }

    /** Ends all cuts between servers and from clients. */
    public void heal() {
        servers.forEach(EnsembleServer::heal);
    }

    /** Kills the servers and removes their data. Closing twice does nothing. */
    @Override
    public void close() {
        try {
            try (processes) {
                for (EnsembleServer server : servers) {
                    server.close();
                }
            } finally {
                removeData();
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot clean up after an ensemble", e);
        }
    }

    private void removeData() throws IOException {
        if (Files.exists(directory)) {
            MoreFiles.deleteRecursively(directory, RecursiveDeleteOption.ALLOW_INSECURE);
        }
    }

    @Override
    public String toString() {
        return "ZooKeeper ensemble on " + connectString();
    }
}
