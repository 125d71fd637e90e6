// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.compare;

import dev.zkrecipes.bench.compare.BenchCase.Setting;
import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.contender.Cycle;
import dev.zkrecipes.bench.contender.LockClient;
import dev.zkrecipes.bench.contender.Ours;
import dev.zkrecipes.bench.contender.Work;
import dev.zkrecipes.bench.runner.BenchServer;
import dev.zkrecipes.bench.runner.BenchServer.Counts;
import dev.zkrecipes.bench.runner.ClientMeter;
import dev.zkrecipes.bench.runner.Crew;
import dev.zkrecipes.bench.runner.RemoteJvm;
import dev.zkrecipes.bench.runner.Store;
import dev.zkrecipes.bench.runner.Together;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.zookeeper.ZooKeeper;

/** Measures cases. In every round each contender has a turn, and only then it is connected. Not thread-safe. */
final class Comparison implements AutoCloseable {
    /** The session time-out: long enough that a turn sends only work, and no pings. */
    static final Duration SESSION = Duration.ofSeconds(60);

    private static final int PINGS = 100;
    private static final int FIRST_PINGS = 20;

    /** A turn with fewer cycles than this continues, for at most ten times as long. */
    private static final int FEW = 20;

    /**
     * How long the last cycles of a turn may take before they are interrupted. They do not count, and may take long
     * with a slow contender.
     */
    private static final Duration PATIENCE = Duration.ofMillis(100);

    private final Map<Store, RemoteJvm<BenchServer>> servers = new EnumMap<>(Store.class);
    private final Effort effort;
    private final Consumer<String> progress;
    private int sites;

    Comparison(Effort effort, Consumer<String> progress) {
        this.effort = effort;
        this.progress = progress;
    }

    /** Returns the server with that store, and starts it when it is first needed. */
    BenchServer server(Store store) {
        return servers.computeIfAbsent(store, BenchServer.Embedded::start).object();
    }

    /**
     * Runs each contender for a while before anything is measured, so that the JIT compilers of both JVMs have seen it.
     */
    void start(BenchCase benchCase, Setting setting) throws Exception {
        for (Contender contender : benchCase.work().contenders()) {
            progress.accept("starting: " + contender);
            var unused = turn(benchCase, setting, contender, Duration.ZERO, effort.start());
        }
    }

    Result play(BenchCase benchCase, Setting setting) throws Exception {
        progress.accept(benchCase.name() + ", " + setting);
        BenchServer server = server(setting.store());
        double roundTrip = roundTripMicros(server.connectString(setting.roundTripMillis()), PINGS);
        Map<Contender, List<Map<Metric, Double>>> figures = new EnumMap<>(Contender.class);
        for (int round = 1 - effort.discarded(); round <= effort.rounds(); round++) {
            for (Contender contender : order(benchCase.work().contenders(), round)) {
                Map<Metric, Double> turn = turn(benchCase, setting, contender, effort.warmUp(), effort.window());
                if (round >= 1) {
                    figures.computeIfAbsent(contender, any -> new ArrayList<>()).add(turn);
                }
            }
        }
        server.tidy();
        return new Result(benchCase, setting, roundTrip, figures);
    }

    /**
     * Returns the order of the turns of a round. Every other round is backwards, so that no contender always follows
     * the same one.
     */
    static List<Contender> order(List<Contender> contenders, int round) {
        return contenders.stream()
                .sorted(round % 2 == 0 ? Comparator.naturalOrder() : Comparator.reverseOrder())
                .toList();
    }

    /**
     * Returns the median time of the smallest request. A proxy adds more than its set delay, as its threads have to
     * wake up.
     */
    static double roundTripMicros(String connectString, int times) throws Exception {
        LockClient client = Contender.BARE.connect(connectString, SESSION);
        try {
            ZooKeeper zooKeeper = client.handle();
            double[] micros = new double[times];
            for (int i = -FIRST_PINGS; i < times; i++) {
                long start = System.nanoTime();
                zooKeeper.exists("/", false);
                if (i >= 0) {
                    micros[i] = (System.nanoTime() - start) / 1e3;
                }
            }
            return Summary.of(micros).median();
        } finally {
            client.close();
        }
    }

    /** Runs one turn: connects, warms up, measures, disconnects. Returns the figures. */
    private Map<Metric, Double> turn(
            BenchCase benchCase, Setting setting, Contender contender, Duration warmUp, Duration window)
            throws Exception {
        BenchServer server = server(setting.store());
        String path = "/bench/" + benchCase.name() + "/" + sites++;
        System.gc(); // the garbage of one contender must not be collected in the turn of the next
        List<LockClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < benchCase.threads().clients(); i++) {
                clients.add(contender.connect(server.connectString(setting.roundTripMillis()), SESSION));
            }
            if (benchCase.work() == Work.WAITERS) {
                return new WaitingQueue(server, (Ours) clients.get(0), benchCase.size()).measure(path, effort);
            }
            return measure(server, cycles(benchCase, clients, path), benchCase, warmUp, window);
        } finally {
            Together.close(clients);
        }
    }

    /** Returns the cycle of each thread. Threads that use the same client and the same path share a lock object. */
    private static List<Cycle> cycles(BenchCase benchCase, List<LockClient> clients, String path) throws Exception {
        int paths = benchCase.threads().paths();
        List<Cycle> locks = new ArrayList<>();
        for (int i = 0; i < Math.max(clients.size(), paths); i++) {
            Cycle lock = clients.get(i % clients.size())
                    .cycle(benchCase.work(), benchCase.size(), paths == 1 ? path : path + "/" + i);
            locks.add(
                    switch (benchCase.work()) {
                        case REENTRANT -> Cycle.reentrant(lock, benchCase.size());
                        case KEPT -> Cycle.repeated(lock, benchCase.size());
                        default -> lock;
                    });
        }
        return IntStream.range(0, benchCase.threads().count())
                .mapToObj(thread -> locks.get(thread % locks.size()))
                .toList();
    }

    private static Map<Metric, Double> measure(
            BenchServer server, List<Cycle> cycles, BenchCase benchCase, Duration warmUp, Duration window)
            throws Exception {
        Crew crew = Crew.start(cycles, 0);
        try {
            TimeUnit.NANOSECONDS.sleep(warmUp.toNanos());
            crew.check();
            Counts counts = server.counts();
            ClientMeter meter = ClientMeter.read();
            long start = System.nanoTime();
            crew.count();
            for (int windows = 0; windows < 10 && (windows == 0 || crew.counted() < FEW); windows++) {
                TimeUnit.NANOSECONDS.sleep(window.toNanos());
                crew.check();
            }
            crew.stopCounting();
            double seconds = (System.nanoTime() - start) / 1e9;
            ClientMeter after = ClientMeter.read();
            Counts spent = server.counts().minus(counts);
            if (crew.counted() == 0) {
                throw new IllegalStateException("not one cycle in " + seconds + " s");
            }
            int each = benchCase.work().isRepeated() ? benchCase.size() : 1;
            double acquires = (double) crew.counted() * each;
            return new EnumMap<>(Map.of(
                    Metric.RATE, acquires / seconds,
                    Metric.ACQUIRE, crew.acquireNanos().getValueAtPercentile(50) / 1e3 / each,
                    Metric.CPU, after.processorNanosSince(meter) / acquires / 1e3,
                    Metric.ALLOCATED, after.bytesSince(meter) / acquires,
                    Metric.REQUESTS, spent.requests() / acquires,
                    Metric.EVENTS, spent.events() / acquires));
        } finally {
            var unused = crew.end(PATIENCE);
        }
    }

    @Override
    public void close() {
        servers.values().forEach(RemoteJvm::close);
    }
}
