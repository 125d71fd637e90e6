// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.cases;

import dev.zkrecipes.bench.contender.Bare;
import dev.zkrecipes.bench.contender.Handles;
import dev.zkrecipes.bench.measure.Connections;
import dev.zkrecipes.bench.server.Counts;
import dev.zkrecipes.bench.server.ServerProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.zookeeper.ZooKeeper;

/**
 * What a hand-over costs the server with a given number of waiting clients, each with its own session, for each of the
 * three ways to wait. It is counted, not timed: from the release of one holder until the next one holds and nothing
 * more is sent. Polling never stops, so there a hand-over ends when the next holder has held for one poll; a longer
 * hold costs more.
 */
public final class WaysToWait {
    /** How a waiter learns that its turn has come. */
    public enum Way {
        /** It lists the queue again after some time. */
        POLLING,
        /** It watches the list, as all others do: every change wakes all waiters. */
        PARENT,
        /** It watches the node right in front of its own, as nobody else does. */
        PREDECESSOR;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * The cost of a hand-over for the server.
     *
     * @param way how the clients wait
     * @param waiters how many wait
     * @param requests the requests received
     * @param events the events sent
     */
    public record Cost(Way way, int waiters, double requests, double events) {}

    private static final int[] LENGTHS = {1, 3, 10, 30, 100, 300, 1_000};
    private static final int HAND_OVERS = 2;
    private static final int LIMIT_SECONDS = 120;

    private final ServerProcess server;
    private final int most;
    private final Consumer<String> progress;

    /**
     * Prepares a comparison.
     *
     * @param most the longest queue
     * @param progress reports each step
     */
    public WaysToWait(ServerProcess server, int most, Consumer<String> progress) {
        this.server = server;
        this.most = most;
        this.progress = progress;
    }

    /** Counts, for each of these ways and each length of the queue. */
    public List<Cost> compare(List<Way> ways) throws InterruptedException {
        int[] lengths = IntStream.of(LENGTHS).filter(length -> length <= most).toArray();
        List<ZooKeeper> handles = connect(lengths[lengths.length - 1] + 1);
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        try {
            List<Cost> costs = new ArrayList<>();
            for (Way way : ways) {
                for (int length : lengths) {
                    progress.accept("ways to wait, " + length + " waiters: " + way);
                    costs.add(cost(way, handles.subList(0, length + 1), timer));
                }
            }
            return costs;
        } finally {
            timer.shutdownNow();
            Connections.close(handles);
        }
    }

    /**
     * One client holds, the others wait. After each hand-over the one that released queues again, so the length stays.
     */
    private Cost cost(Way way, List<ZooKeeper> handles, ScheduledExecutorService timer) throws InterruptedException {
        String path = "/ways/" + way + "-" + handles.size();
        Bare.makeParents(handles.get(0), path);
        List<BareWaiter> waiters = new ArrayList<>();
        for (ZooKeeper handle : handles) {
            BareWaiter waiter = new BareWaiter(handle, path, way, timer);
            waiter.enqueue();
            waiters.add(waiter);
        }
        List<CompletableFuture<BareWaiter>> turns =
                new ArrayList<>(waiters.stream().map(BareWaiter::await).toList());
        List<Counts> spent = new ArrayList<>();
        for (int i = 0; i <= HAND_OVERS; i++) {
            BareWaiter holder = join(turns.get(i));
            settle(way, path, handles.size(), handles.size());
            Counts before = server.counts();
            holder.release();
            join(turns.get(i + 1));
            settle(way, path, handles.size(), handles.size() - 1);
            spent.add(server.counts().minus(before));
            holder.enqueue();
            turns.add(holder.await());
        }
        spent.remove(0); // of the one that never waited, and watches a list for nothing
        waiters.forEach(BareWaiter::stop);
        return new Cost(
                way,
                handles.size() - 1,
                spent.stream().mapToLong(Counts::requests).average().orElseThrow(),
                spent.stream().mapToLong(Counts::events).average().orElseThrow());
    }

    private static BareWaiter join(CompletableFuture<BareWaiter> turn) {
        return turn.orTimeout(LIMIT_SECONDS, TimeUnit.SECONDS).join();
    }

    /**
     * Until all who wait watch: the list, which the last one that came to hold watches too, or one predecessor each.
     */
    private void settle(Way way, String path, int clients, int nodes) throws InterruptedException {
        if (way == Way.POLLING) {
            TimeUnit.MILLISECONDS.sleep(BareWaiter.POLL_MILLIS);
        } else {
            server.awaitQuiet(path, nodes, way == Way.PARENT ? clients - 1 : nodes - 1);
        }
    }

    private List<ZooKeeper> connect(int count) throws InterruptedException {
        CountDownLatch connected = new CountDownLatch(count);
        List<ZooKeeper> handles = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            handles.add(Handles.open(server.connectString(0), connected));
        }
        if (!connected.await(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException(connected.getCount() + " of " + count + " clients have no connection");
        }
        return handles;
    }
}
