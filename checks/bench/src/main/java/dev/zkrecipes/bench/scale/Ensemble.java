// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.scale;

import com.google.common.collect.Iterables;
import dev.zkrecipes.bench.runner.RemoteJvm;
import dev.zkrecipes.bench.runner.Store;
import dev.zkrecipes.test.internal.EnsembleProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.zookeeper.client.FourLetterWordMain;
import org.apache.zookeeper.common.X509Exception;
import org.awaitility.Awaitility;

/**
 * One ZooKeeper server, or an ensemble of three, each in a JVM of its own as ZooKeeper's own script starts it. Clients
 * connect to the servers directly, without a proxy.
 */
final class Ensemble implements AutoCloseable {
    /**
     * The options of each server's JVM. The last two keep the server from logging that a command such as {@code mntr}
     * came too early, or that a follower has ended.
     */
    private static final List<String> OPTIONS = List.of(
            "-Xms512m",
            "-Xmx1g",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
            "-Dorg.slf4j.simpleLogger.log.org.apache.zookeeper.server.ServerCnxn=off",
            "-Dorg.slf4j.simpleLogger.log.org.apache.zookeeper.server.quorum.LearnerHandler=off");

    private static final List<String> SETTINGS = List.of(
            "tickTime=2000",
            "initLimit=10",
            "syncLimit=10",
            "maxSessionTimeout=60000",
            "maxClientCnxns=0",
            "admin.enableServer=false",
            "4lw.commands.whitelist=mntr",
            "clientPortAddress=127.0.0.1");
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int ANSWER_MILLIS = 10_000;

    private static final Set<String> LEADING = Set.of("leader", "standalone");

    private final Path directory;
    /** The ports for clients come first, then those for followers, then those for elections. */
    private final List<Integer> ports;

    private final List<Process> servers = new ArrayList<>();

    /**
     * What all servers did together, in total or since an earlier reading.
     *
     * @param leader the index of the server that leads
     * @param leaderTime the processor time of that server
     */
    record Usage(long requests, long bytes, long connections, int leader, Duration leaderTime) {
        /**
         * Returns what the servers did since an earlier reading.
         *
         * @throws IllegalStateException if a client connected, a session expired or the leader changed meanwhile
         */
        Usage since(Usage earlier) {
            if (leader != earlier.leader) {
                throw new IllegalStateException("another server leads now");
            }
            if (connections != earlier.connections) {
                throw new IllegalStateException(
                        "connections broke, or sessions expired: " + (connections - earlier.connections));
            }
            return new Usage(
                    requests - earlier.requests,
                    bytes - earlier.bytes,
                    0,
                    leader,
                    leaderTime.minus(earlier.leaderTime));
        }
    }

    private Ensemble(Path directory, int size) throws IOException {
        this.directory = directory;
        this.ports = freePorts(3 * size);
        List<String> settings = new ArrayList<>(SETTINGS);
        for (int i = 1; size > 1 && i <= size; i++) {
            settings.add("server." + i + "=127.0.0.1:" + ports.get(size + i - 1) + ":" + ports.get(2 * size + i - 1));
        }
        for (int i = 1; i <= size; i++) {
            Path data = Files.createDirectory(directory.resolve(String.valueOf(i)));
            Files.writeString(data.resolve("myid"), String.valueOf(i));
            List<String> own = List.of("dataDir=" + data, "clientPort=" + ports.get(i - 1));
            Path configuration = Files.write(data.resolve("zoo.cfg"), Iterables.concat(settings, own));
            servers.add(RemoteJvm.launch(OPTIONS, EnsembleProcess.class, configuration.toString()));
        }
    }

    /** Starts servers with empty stores, and returns when one of them leads and the others follow. */
    static Ensemble start(int size, Store store) throws IOException {
        Ensemble ensemble = new Ensemble(store.createDirectory(), size);
        try {
            ensemble.awaitLeader();
            return ensemble;
        } catch (RuntimeException e) {
            ensemble.close();
            throw e;
        }
    }

    private static List<Integer> freePorts(int count) throws IOException {
        Set<Integer> free = new LinkedHashSet<>();
        while (free.size() < count) {
            try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                free.add(socket.getLocalPort());
            }
        }
        return List.copyOf(free);
    }

    private void awaitLeader() {
        Awaitility.await("a leader, whom all others follow")
                .atMost(LIMIT)
                .until(this::roles, roles -> !roles.contains("") && !Collections.disjoint(roles, LEADING));
    }

    private List<String> roles() {
        return servers.stream()
                .map(server -> monitor(server).getOrDefault("zk_server_state", ""))
                .toList();
    }

    /** Returns a connect string with the addresses of all servers. */
    String connectString() {
        return ports.subList(0, servers.size()).stream()
                .map(port -> "127.0.0.1:" + port)
                .collect(Collectors.joining(","));
    }

    /** Returns what the servers did so far. Throws {@link IllegalStateException} if one of them does not serve. */
    Usage usage() {
        List<Map<String, String>> figures = servers.stream().map(this::monitor).toList();
        if (figures.stream().anyMatch(each -> !each.containsKey("zk_packets_received"))) {
            throw new IllegalStateException("a server does not serve");
        }
        int leader = Iterables.indexOf(figures, each -> LEADING.contains(each.getOrDefault("zk_server_state", "")));
        if (leader < 0) {
            throw new IllegalStateException("no server leads");
        }
        return new Usage(
                sum(figures, "packets_received"),
                sum(figures, "bytes_received_count") + sum(figures, "response_bytes") + sum(figures, "watch_bytes"),
                sum(figures, "connection_request_count") + sum(figures, "stale_sessions_expired"),
                leader,
                servers.get(leader).info().totalCpuDuration().orElseThrow());
    }

    private static long sum(List<Map<String, String>> figures, String name) {
        return figures.stream()
                .mapToLong(each -> (long) Double.parseDouble(each.getOrDefault("zk_" + name, "none")))
                .sum();
    }

    /** Returns a server's answer to {@code mntr}, by name. The answer is empty while the server does not serve. */
    private Map<String, String> monitor(Process server) {
        try {
            int port = ports.get(servers.indexOf(server));
            String answer = FourLetterWordMain.send4LetterWord("127.0.0.1", port, "mntr", false, ANSWER_MILLIS);
            return answer.lines()
                    .map(line -> line.split("\t", 2))
                    .filter(words -> words.length == 2)
                    .collect(Collectors.toMap(words -> words[0], words -> words[1], (one, other) -> other));
        } catch (IOException | X509Exception.SSLContextException e) {
            return Map.of();
        }
    }

    /** Returns the folder in which the servers keep their data. */
    Path directory() {
        return directory;
    }

    /** Ends the servers and removes their data. */
    @Override
    public void close() {
        servers.forEach(server -> server.destroyForcibly().onExit().join());
        Store.remove(directory);
    }
}
