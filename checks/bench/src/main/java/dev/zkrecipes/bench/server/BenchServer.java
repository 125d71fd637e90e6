// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.server;

import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.zookeeper.server.PurgeTxnLog;

/**
 * The main class of the server's process: a ZooKeeper, and before it proxies that make the way longer. It answers each
 * line of its standard input with a line, and ends with its standard input.
 */
public final class BenchServer implements AutoCloseable {
    /** As few as ZooKeeper's own tool keeps. */
    private static final int SNAPSHOTS = 3;

    private final Path data;
    private final EmbeddedZooKeeper server;
    private final List<FaultProxy> proxies = new ArrayList<>();

    private BenchServer(Path data) {
        this.data = data;
        this.server =
                EmbeddedZooKeeper.builder().dataDirectory(data).fsync(true).start();
    }

    /**
     * Runs the server.
     *
     * @param args where the data go
     */
    public static void main(String[] args) throws IOException {
        PrintStream answers = System.out;
        // PurgeTxnLog prints the name of each file that it removes.
        System.setOut(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8));
        try (BenchServer server = new BenchServer(Path.of(args[0]));
                BufferedReader questions =
                        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            answers.println(server.server.port());
            for (String line = questions.readLine(); line != null; line = questions.readLine()) {
                answers.println(server.answer(line.split(" ", 2)));
            }
        }
    }

    private String answer(String[] question) throws IOException {
        return switch (question[0]) {
            case "counts" -> server.requests().total() + " " + server.eventsSent();
            case "children" -> Integer.toString(children(question[1]));
            case "watches" -> Integer.toString(watches(question[1]));
            case "proxy" -> Integer.toString(openProxy(Duration.ofNanos(Long.parseLong(question[1]))));
            case "tidy" -> tidy();
            default -> throw new IllegalArgumentException("unknown question: " + question[0]);
        };
    }

    private int children(String path) {
        return server.nodeExists(path) ? server.children(path).size() : 0;
    }

    private int watches(String path) {
        if (!server.nodeExists(path)) {
            return 0;
        }
        return server.childWatchers(path).size()
                + server.children(path).stream()
                        .mapToInt(child -> watchesOfOthers(path + "/" + child))
                        .sum();
    }

    private int watchesOfOthers(String node) {
        Set<Long> watching = new HashSet<>(server.watchers(node));
        watching.addAll(server.childWatchers(node));
        server.owner(node).ifPresent(watching::remove);
        return watching.size();
    }

    private String tidy() throws IOException {
        PurgeTxnLog.purge(data.toFile(), data.toFile(), SNAPSHOTS);
        return "done";
    }

    private int openProxy(Duration oneWay) {
        FaultProxy proxy = FaultProxy.to(server);
        proxies.add(proxy);
        proxy.latency(oneWay);
        return proxy.port();
    }

    @Override
    public void close() {
        proxies.forEach(FaultProxy::close);
        server.close();
    }
}
