// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.scale;

import com.google.common.base.Splitter;
import com.google.common.collect.Iterables;
import dev.zkrecipes.bench.server.ChildJvm;
import dev.zkrecipes.bench.server.Store;
import dev.zkrecipes.test.internal.EnsembleProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * One ZooKeeper server, or three, as ZooKeeper's own script starts them: a JVM each, and nothing between them and their
 * clients.
 */
final class Ensemble implements AutoCloseable {
    /** Nothing is logged about a question that comes too early, or about followers that end. */
    private static final List<String> OPTIONS = List.of(
            "-Xms512m",
            "-Xmx1g",
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
    /** Those for clients come first. */
    private final List<Integer> ports;

    private final List<ChildJvm> servers = new ArrayList<>();

    /**
     * What the servers did, in all or since an earlier reading.
     *
     * @param leader which of them leads
     * @param leaderTime its processor time
     */
    record Usage(long requests, long bytes, long connections, int leader, Duration leaderTime) {
        /**
         * The difference to an earlier reading.
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
            Path configuration = Files.write(data.resolve("zoo.cfg"), settings);
            String own = "dataDir=" + data + "\nclientPort=" + ports.get(i - 1) + "\n";
            Files.writeString(configuration, Files.readString(configuration) + own);
            servers.add(ChildJvm.start(OPTIONS, EnsembleProcess.class, configuration.toString()));
        }
    }

    /** Starts servers with an empty store, and waits until one leads and the others follow. */
    static Ensemble start(int size, Store store) throws InterruptedException {
        Path directory = store.createDirectory();
        try {
            Ensemble ensemble = new Ensemble(directory, size);
            try {
                ensemble.awaitLeader();
                return ensemble;
            } catch (InterruptedException | RuntimeException e) {
                ensemble.close();
                throw e;
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot start " + size + " servers", e);
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

    private void awaitLeader() throws InterruptedException {
        long begun = System.nanoTime();
        List<String> roles = List.of("");
        while (roles.contains("") || Collections.disjoint(roles, LEADING)) {
            if (System.nanoTime() - begun > LIMIT.toNanos()) {
                throw new IllegalStateException("no leader, or not all follow, after " + LIMIT + ": " + roles);
            }
            TimeUnit.MILLISECONDS.sleep(50);
            roles = servers.stream()
                    .map(server -> monitor(server).getOrDefault("zk_server_state", ""))
                    .toList();
        }
    }

    /** Where clients find all of them. */
    String connectString() {
        return ports.subList(0, servers.size()).stream()
                .map(port -> "127.0.0.1:" + port)
                .collect(Collectors.joining(","));
    }

    /** What all of them did so far. */
    Usage usage() {
        List<Map<String, String>> figures = servers.stream().map(this::monitor).toList();
        long requests = sum(figures, "packets_received");
        int leader = Iterables.indexOf(figures, each -> LEADING.contains(each.getOrDefault("zk_server_state", "")));
        if (leader < 0) {
            throw new IllegalStateException("no server leads");
        }
        return new Usage(
                requests,
                sum(figures, "bytes_received_count") + sum(figures, "response_bytes") + sum(figures, "watch_bytes"),
                sum(figures, "connection_request_count") + sum(figures, "stale_sessions_expired"),
                leader,
                servers.get(leader).processorTime());
    }

    private static long sum(List<Map<String, String>> figures, String name) {
        if (!figures.stream().allMatch(each -> each.containsKey("zk_" + name))) {
            throw new IllegalStateException("a server does not serve");
        }
        return figures.stream()
                .mapToLong(each -> (long) Double.parseDouble(each.getOrDefault("zk_" + name, "")))
                .sum();
    }

    /** A server's figures by name; there are none while it does not serve. */
    private Map<String, String> monitor(ChildJvm server) {
        Map<String, String> figures = new HashMap<>();
        try (Socket socket = new Socket()) {
            int port = ports.get(servers.indexOf(server));
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), ANSWER_MILLIS);
            socket.setSoTimeout(ANSWER_MILLIS);
            socket.getOutputStream().write("mntr".getBytes(StandardCharsets.US_ASCII));
            String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            for (String line : Splitter.on('\n').split(answer)) {
                int tab = line.indexOf('\t');
                if (tab > 0) {
                    figures.put(line.substring(0, tab), line.substring(tab + 1));
                }
            }
        } catch (IOException e) {
            return Map.of();
        }
        return figures;
    }

    /** Where they keep their data. */
    Path directory() {
        return directory;
    }

    /** Ends the servers and removes their data. */
    @Override
    public void close() {
        servers.forEach(ChildJvm::close);
        Store.remove(directory);
    }
}
