// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.compare;

import dev.zkrecipes.bench.contender.Bare;
import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.contender.LockClient;
import dev.zkrecipes.bench.contender.Textbook;
import dev.zkrecipes.bench.contender.Textbook.Way;
import dev.zkrecipes.bench.report.Charts;
import dev.zkrecipes.bench.report.Table;
import dev.zkrecipes.bench.runner.BenchServer;
import dev.zkrecipes.bench.runner.BenchServer.Counts;
import dev.zkrecipes.bench.runner.Together;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.ToDoubleFunction;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;

/**
 * What a hand-over costs the server with a given number of waiting clients, each with its own session, for each of the
 * three ways to wait. It is counted, not timed: from the release of one holder until the next one holds and nothing
 * more is sent. Polling never stops, so there a hand-over ends when the next holder has held for one poll; a longer
 * hold costs more.
 */
final class WaysToWait {
    /** What {@code --case} calls it: it has contenders of its own, and no place in the table of cases. */
    static final String NAME = "ways-to-wait";

    /** How many requests the server received for a hand-over, and how many events it sent. */
    record Cost(Way way, int waiters, double requests, double events) {}

    private static final List<Integer> LENGTHS = List.of(1, 3, 10, 30, 100, 300, 1_000);
    private static final int HAND_OVERS = 2;
    private static final int LIMIT_SECONDS = 120;

    private final BenchServer server;
    private final List<Integer> lengths;
    private final Consumer<String> progress;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    /** Prepares a comparison, up to this length of the queue. */
    WaysToWait(BenchServer server, int most, Consumer<String> progress) {
        this.server = server;
        this.lengths = LENGTHS.stream().filter(length -> length <= most).toList();
        this.progress = progress;
    }

    /** Counts, for each of these ways and each length of the queue. */
    List<Cost> compare(List<Way> ways) throws Exception {
        String connectString = server.connectString(0);
        List<LockClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i <= lengths.get(lengths.size() - 1); i++) {
                clients.add(Contender.BARE.connect(connectString, Comparison.SESSION));
            }
            List<Callable<ZooKeeper>> connecting = clients.stream()
                    .<Callable<ZooKeeper>>map(each -> () -> connected(each.handle()))
                    .toList();
            List<ZooKeeper> handles = Together.call(connecting);
            List<Cost> costs = new ArrayList<>();
            for (Way way : ways) {
                for (int length : lengths) {
                    progress.accept(NAME + ", " + length + " waiters: " + way);
                    costs.add(cost(way, handles.subList(0, length + 1)));
                }
            }
            return costs;
        } finally {
            threads.shutdownNow();
            Together.close(clients);
        }
    }

    private static ZooKeeper connected(ZooKeeper handle) throws KeeperException, InterruptedException {
        handle.exists("/", false);
        return handle;
    }

    /**
     * One client holds, the others wait. After each hand-over the one that released queues again, so the length stays.
     */
    private Cost cost(Way way, List<ZooKeeper> handles) throws Exception {
        String path = "/ways/" + way + "-" + handles.size();
        Bare.makeNodes(handles.get(0), path);
        List<Waiter> queue = new ArrayList<>();
        for (ZooKeeper handle : handles) {
            queue.add(enqueue(handle, path, way));
        }
        Counts spent = new Counts(0, 0);
        for (int i = 0; i <= HAND_OVERS; i++) {
            Waiter holder = queue.get(i);
            holder.turn.get(LIMIT_SECONDS, TimeUnit.SECONDS);
            settle(way, path, handles.size(), handles.size());
            Counts before = server.counts();
            Textbook.release(holder.handle, holder.node);
            queue.get(i + 1).turn.get(LIMIT_SECONDS, TimeUnit.SECONDS);
            settle(way, path, handles.size(), handles.size() - 1);
            Counts one = server.counts().minus(before);
            // The first one never waited, and watches a list for nothing.
            spent = i == 0 ? spent : new Counts(spent.requests() + one.requests(), spent.events() + one.events());
            queue.add(enqueue(holder.handle, path, way));
        }
        queue.forEach(waiter -> waiter.turn.cancel(true));
        double each = HAND_OVERS;
        return new Cost(way, handles.size() - 1, spent.requests() / each, spent.events() / each);
    }

    /** A client in the queue, and what ends when it holds. */
    private record Waiter(ZooKeeper handle, String node, Future<?> turn) {}

    private Waiter enqueue(ZooKeeper handle, String path, Way way) throws Exception {
        String node = Textbook.enqueue(handle, path);
        Future<?> turn = threads.submit(() -> {
            Textbook.await(handle, node, way);
            return node;
        });
        return new Waiter(handle, node, turn);
    }

    /**
     * Until all who wait watch: the list, which the last one that came to hold watches too, or one predecessor each.
     */
    private void settle(Way way, String path, int clients, int nodes) throws Exception {
        if (way == Way.POLLING) {
            TimeUnit.MILLISECONDS.sleep(Textbook.POLL_MILLIS);
        } else {
            server.awaitQuiet(path, nodes, way == Way.PARENT ? clients - 1 : nodes - 1);
        }
    }

    static Table table(List<Cost> costs) {
        Table table = Table.of("way,waiters,requests of a hand-over,events of a hand-over");
        costs.forEach(cost -> table.add(cost.way, cost.waiters, cost.requests, cost.events));
        return table;
    }

    /** One picture of requests, one of events. */
    static void draw(List<Cost> costs, Path folder) throws IOException {
        draw(costs, "requests", Cost::requests, folder);
        draw(costs, "events", Cost::events, folder);
    }

    private static void draw(List<Cost> costs, String what, ToDoubleFunction<Cost> figure, Path folder)
            throws IOException {
        Map<String, Map<Integer, Double>> series = new LinkedHashMap<>();
        for (Cost cost : costs) {
            if (figure.applyAsDouble(cost) > 0) { // polling causes no events, for which a logarithmic axis has no place
                series.computeIfAbsent(cost.way.toString(), any -> new TreeMap<>())
                        .put(cost.waiters, figure.applyAsDouble(cost));
            }
        }
        Charts.lines(what + " of one hand-over", "waiters", what, series, folder.resolve(NAME + "-" + what + ".png"));
    }
}
