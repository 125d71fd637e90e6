// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.contender.Handles;
import dev.zkrecipes.bench.faults.FaultPlan.Step;
import dev.zkrecipes.test.EnsembleServer;
import dev.zkrecipes.test.ServerRole;
import dev.zkrecipes.test.ZooKeeperEnsemble;
import dev.zkrecipes.test.internal.ChildJvms;
import dev.zkrecipes.test.internal.FrozenJvm;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.rmi.server.UnicastRemoteObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

/**
 * Three servers, the processes that use them, and the faults. All contenders run at the same time, on the same
 * servers and in the same processes, so each fault hits all of them.
 */
final class Arena implements AutoCloseable {
    /** A fault that happened. */
    record Played(Step step, String target, long from, long to) {}

    /** What is left of a contender at the end: threads that were not served, and nodes that nobody needs. */
    record Remains(int stuck, int nodes) {}

    static final int CLIENTS = 5;
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration LOOK_EVERY = Duration.ofMillis(100);

    private final long seed;
    private final Referee referee = new Referee();
    private final Path refereeFile = Files.createTempFile("faults-", ".referee");
    private final ChildJvms processes = new ChildJvms();
    private final ZooKeeperEnsemble ensemble;
    private final Process[] clients = new Process[CLIENTS];
    private final List<Played> played = new ArrayList<>();
    private int started;

    /**
     * Starts the servers and the clients.
     *
     * @param syncLimit after how many ticks of silence a follower and its leader give each other up
     */
    Arena(long seed, int syncLimit) throws Exception {
        this.seed = seed;
        refereeFile.toFile().deleteOnExit();
        System.setProperty("java.rmi.server.hostname", "127.0.0.1");
        try (ObjectOutputStream out = new ObjectOutputStream(Files.newOutputStream(refereeFile))) {
            out.writeObject(UnicastRemoteObject.exportObject(referee, 0));
        }
        ensemble = ZooKeeperEnsemble.start(List.of("tickTime=400", "initLimit=10", "syncLimit=" + syncLimit));
        Runtime.getRuntime().addShutdownHook(new Thread(this::abandon));
        makeNodes(ensemble.connectString());
        for (int client = 0; client < CLIENTS; client++) {
            start(client);
        }
        if (!await(LIMIT, () -> referee.processes() == CLIENTS)) {
            throw new IllegalStateException("the clients did not begin within " + LIMIT);
        }
    }

    /**
     * The lock paths are not containers: the numbers of nodes, which are tokens, would begin again when one is
     * removed.
     */
    static void makeNodes(String connectString) throws InterruptedException, KeeperException {
        ZooKeeper zooKeeper = Handles.connect(connectString);
        try {
            make(zooKeeper, "/faults", "");
            make(zooKeeper, "/counters", "");
            for (Contender contender : Contender.values()) {
                make(zooKeeper, "/faults/" + contender, "");
                for (int lock = 0; lock < RivalProcess.LOCKS; lock++) {
                    make(zooKeeper, RivalProcess.path(contender, lock), "");
                    make(zooKeeper, RivalProcess.counter(contender, lock), "0");
                }
            }
        } finally {
            zooKeeper.close();
        }
    }

    private static void make(ZooKeeper zooKeeper, String path, String data)
            throws KeeperException, InterruptedException {
        zooKeeper.create(path, data.getBytes(StandardCharsets.US_ASCII), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    /** Of the first three, each knows one server only, and loses its sessions when that is cut off. */
    private void start(int client) {
        List<EnsembleServer> servers = ensemble.servers();
        clients[client] = processes.start(
                List.of("-Dorg.slf4j.simpleLogger.defaultLogLevel=off"),
                RivalProcess.class,
                client < servers.size() ? servers.get(client).connectString() : ensemble.connectString(),
                refereeFile.toString(),
                client + 1 + "." + ++started,
                String.valueOf(seed + 1_000L * client));
    }

    /** Does it, undoes it, and waits until the servers have found each other again. */
    Played play(Step step) throws Exception {
        Thread.sleep(step.pause().toMillis());
        long millis = step.lasts().toMillis();
        int client = step.target() % CLIENTS;
        List<EnsembleServer> servers = ensemble.servers();
        EnsembleServer server = servers.get(step.target() % servers.size());
        String target = "server " + server.number();
        long from = System.nanoTime();
        switch (step.kind()) {
            case STOP_CLIENT -> {
                target = "client " + (client + 1);
                endAfter(millis, FrozenJvm.freeze(clients[client])::close);
            }
            case KILL_CLIENT -> {
                target = "client " + (client + 1);
                clients[client].destroyForcibly().onExit().join();
                start(client);
            }
            case STALL_SERVER -> endAfter(millis, server.freeze()::close);
            case KILL_SERVER -> {
                server.kill();
                endAfter(millis, server::restart);
            }
            case CUT_SERVER -> {
                server.cutFromClients();
                endAfter(millis, ensemble::heal);
            }
            case CUT_FOLLOWER -> {
                EnsembleServer leader = servers.stream()
                        .filter(each -> each.role() == ServerRole.LEADER)
                        .findFirst()
                        .orElse(server);
                EnsembleServer follower = server == leader ? servers.get(server.number() % servers.size()) : server;
                target = "server " + follower.number();
                follower.cutFrom(leader);
                endAfter(millis, ensemble::heal);
            }
            case CUT_ALL -> {
                target = "all";
                servers.forEach(EnsembleServer::cutFromClients);
                endAfter(millis, ensemble::heal);
            }
        }
        Played done = new Played(step, target, from, System.nanoTime());
        played.add(done);
        await(LIMIT, () -> ensemble.followers().size() == servers.size() - 1);
        return done;
    }

    private static void endAfter(long millis, Runnable end) throws InterruptedException {
        Thread.sleep(millis);
        end.run();
    }

    List<Played> played() {
        return List.copyOf(played);
    }

    Referee referee() {
        return referee;
    }

    /**
     * Without faults: has every thread take its lock once more, counts what is left, and ends the clients and
     * servers.
     */
    Map<Contender, Remains> finish() throws Exception {
        tell("finish");
        Map<Contender, Remains> remains = new EnumMap<>(Contender.class);
        int threads = CLIENTS * RivalProcess.LOCKS;
        await(LIMIT, () -> Stream.of(Contender.values()).allMatch(each -> referee.served(each) == threads));
        ZooKeeper zooKeeper = Handles.connect(ensemble.connectString());
        try {
            for (Contender contender : Contender.values()) {
                // This library looks for the nodes of lost requests for up to 7.5 session time-outs.
                await(RivalProcess.SESSION.multipliedBy(10), () -> nodes(zooKeeper, contender) == 0);
                remains.put(contender, new Remains(threads - referee.served(contender), nodes(zooKeeper, contender)));
            }
        } finally {
            zooKeeper.close();
        }
        tell("close");
        await(LIMIT, () -> Stream.of(clients).noneMatch(Process::isAlive));
        ensemble.servers().forEach(EnsembleServer::kill);
        return remains;
    }

    private void tell(String line) throws IOException {
        for (Process client : clients) {
            client.getOutputStream().write((line + "\n").getBytes(StandardCharsets.US_ASCII));
            client.getOutputStream().flush();
        }
    }

    private static int nodes(ZooKeeper zooKeeper, Contender contender) throws KeeperException, InterruptedException {
        int nodes = 0;
        for (int lock = 0; lock < RivalProcess.LOCKS; lock++) {
            String path = RivalProcess.path(contender, lock);
            zooKeeper.sync(path);
            nodes += zooKeeper.getChildren(path, false).size();
        }
        return nodes;
    }

    /** What the servers did; after {@link #finish}. */
    ServerLog serverLog(long wallMinusMonotonic) throws IOException {
        return ServerLog.read(
                ensemble.servers().stream().map(EnsembleServer::dataDirectory).toList(), wallMinusMonotonic);
    }

    private static boolean await(Duration limit, Callable<Boolean> condition) throws Exception {
        long begun = System.nanoTime();
        while (!condition.call()) {
            if (System.nanoTime() - begun > limit.toNanos()) {
                return false;
            }
            Thread.sleep(LOOK_EVERY.toMillis());
        }
        return true;
    }

    /** After Ctrl-C, too, and with processes that are stopped. */
    private void abandon() {
        ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
        ensemble.close();
    }

    @Override
    public void close() throws IOException {
        processes.close();
        ensemble.close();
        UnicastRemoteObject.unexportObject(referee, true);
    }
}
