// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.faults;

import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.contender.LockClient;
import dev.zkrecipes.bench.contender.Subject;
import dev.zkrecipes.bench.faults.FaultPlan.Step;
import dev.zkrecipes.bench.faults.FaultVerdict.Evidence;
import dev.zkrecipes.bench.runner.RemoteJvm;
import dev.zkrecipes.test.EnsembleServer;
import dev.zkrecipes.test.ServerRole;
import dev.zkrecipes.test.ZooKeeperEnsemble;
import dev.zkrecipes.test.internal.FrozenJvm;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.rmi.NoSuchObjectException;
import java.rmi.server.UnicastRemoteObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;

/**
 * Three servers, the client processes that use them, and the faults. All subjects are used at the same time, on the
 * same servers and in the same processes, so each fault hits all of them.
 */
final class Arena implements AutoCloseable {
    /** A fault that was played, what it hit, and its beginning and end by {@link System#nanoTime}. */
    record Played(Step step, String target, long from, long to) {}

    /**
     * What is left of a subject at the end: how many threads did not get their lock once more, and how many lock nodes
     * still exist.
     */
    record Remains(int stuck, int nodes) {}

    /** The evidence of a run, and the verdict on each subject. */
    record Judgement(Evidence evidence, List<FaultVerdict> verdicts) {}

    static final int CLIENTS = 5;
    /**
     * The options of the clients' JVMs, which make them small and quick to start: eight JVMs of clients and servers
     * share one core or two.
     */
    private static final List<String> OPTIONS = List.of(
            "-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off");

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final List<Subject> subjects;
    private final long seed;
    private final long clocks = wallMinusMonotonic();
    private final Referee.Notebook referee = new Referee.Notebook();
    private final Referee calls = (Referee) RemoteJvm.export(referee);
    private final ZooKeeperEnsemble ensemble;
    private final List<RemoteJvm<FaultClient>> clients = new ArrayList<>();
    private final List<Played> played = new ArrayList<>();
    private int started;

    /**
     * Starts the servers and the clients.
     *
     * @param seed the seed of the faults, and of how long the holders keep their locks
     * @param syncLimit after how many ticks of silence a follower and its leader give each other up
     */
    Arena(List<? extends Subject> subjects, long seed, int syncLimit) throws Exception {
        this.subjects = List.copyOf(subjects);
        this.seed = seed;
        ensemble = ZooKeeperEnsemble.start(List.of("tickTime=400", "initLimit=10", "syncLimit=" + syncLimit));
        Runtime.getRuntime().addShutdownHook(new Thread(this::abandon));
        makeNodes(ensemble.connectString(), subjects);
        for (int client = 0; client < CLIENTS; client++) {
            clients.add(start(client));
        }
    }

    /**
     * Creates the lock paths and the counters. The lock paths are not containers: ZooKeeper removes an empty container,
     * and if its path is created again, the sequence numbers, which serve as tokens, begin again at 0.
     */
    static void makeNodes(String connectString, List<? extends Subject> subjects) throws Exception {
        LockClient client = Contender.BARE.connect(connectString, FaultClient.SESSION);
        try {
            ZooKeeper zooKeeper = client.handle();
            make(zooKeeper, "/faults", "");
            make(zooKeeper, "/counters", "");
            for (Subject subject : subjects) {
                make(zooKeeper, "/faults/" + subject, "");
                for (int lock = 0; lock < FaultClient.LOCKS; lock++) {
                    make(zooKeeper, FaultClient.Threads.path(subject, lock), subject.pathData());
                    make(zooKeeper, FaultClient.Threads.counter(subject, lock), "0");
                }
            }
        } finally {
            client.close();
        }
    }

    private static void make(ZooKeeper zooKeeper, String path, String data)
            throws KeeperException, InterruptedException {
        zooKeeper.create(path, data.getBytes(StandardCharsets.US_ASCII), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    }

    /**
     * Starts a client process. Each of the first three knows one server only, and loses its sessions when that server
     * is cut off for long.
     */
    private RemoteJvm<FaultClient> start(int client) {
        List<EnsembleServer> servers = ensemble.servers();
        String connectString = client < servers.size() ? servers.get(client).connectString() : ensemble.connectString();
        String name = client + 1 + "." + ++started;
        long seedOfClient = seed + 1_000L * client;
        Referee calls = this.calls;
        List<Subject> subjects = this.subjects;
        return RemoteJvm.start(
                OPTIONS,
                () -> new FaultClient.Threads(name, subjects, calls, connectString, FaultClient.SESSION, seedOfClient));
    }

    /** Plays faults for this time, one after the other, and prints a line about each. */
    void playFor(Duration length, PrintWriter text) throws Exception {
        FaultPlan plan = new FaultPlan(seed);
        long begun = System.nanoTime();
        text.println("seed " + seed);
        while (System.nanoTime() - begun < length.toNanos()) {
            Played fault = play(plan.next());
            text.printf(
                    "%6.1f s: %s, for %.1f s: %s%n",
                    (fault.from() - begun) / 1e9,
                    fault.target(),
                    (fault.to() - fault.from()) / 1e9,
                    fault.step().kind().description());
            text.flush();
        }
    }

    /** Plays a fault after its pause: causes it, ends it, and waits until one server leads and all others follow. */
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
                endAfter(millis, FrozenJvm.freeze(clients.get(client).process())::close);
            }
            case KILL_CLIENT -> {
                target = "client " + (client + 1);
                clients.get(client).close();
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
        if (step.kind() == FaultPlan.Kind.KILL_CLIENT) {
            clients.set(client, start(client)); // the start of the JVM is not part of the fault
        }
        ensemble.awaitComplete();
        return done;
    }

    private static void endAfter(long millis, Runnable end) throws InterruptedException {
        Thread.sleep(millis);
        end.run();
    }

    List<Played> played() {
        return List.copyOf(played);
    }

    /**
     * Ends the run after the faults: has every thread take its lock once more, counts what is left, ends the clients
     * and servers, and judges the subjects.
     */
    Judgement finish() throws Exception {
        for (RemoteJvm<FaultClient> client : clients) {
            client.object().finish();
        }
        List<Remains> remains = new ArrayList<>();
        int threads = CLIENTS * FaultClient.LOCKS;
        await(LIMIT, () -> subjects.stream().allMatch(each -> referee.served(each) == threads));
        LockClient observer = Contender.BARE.connect(ensemble.connectString(), FaultClient.SESSION);
        try {
            ZooKeeper zooKeeper = observer.handle();
            for (Subject subject : subjects) {
                // For up to 7.5 session time-outs, this library looks for nodes that lost requests may have created.
                await(FaultClient.SESSION.multipliedBy(10), () -> nodes(zooKeeper, subject) == 0);
                remains.add(new Remains(threads - referee.served(subject), nodes(zooKeeper, subject)));
            }
        } finally {
            observer.close();
        }
        for (RemoteJvm<FaultClient> client : clients) {
            client.object().close();
        }
        ensemble.servers().forEach(EnsembleServer::kill);
        long tolerance = TimeUnit.MILLISECONDS.toNanos(3) + Math.abs(wallMinusMonotonic() - clocks);
        Evidence evidence = referee.evidence(serverLog(), tolerance);
        List<FaultVerdict> verdicts = new ArrayList<>();
        for (Subject subject : subjects) {
            Remains left = remains.get(verdicts.size());
            verdicts.add(new FaultVerdict(subject, evidence, referee.failures(subject), left));
        }
        return new Judgement(evidence, verdicts);
    }

    private static long wallMinusMonotonic() {
        return TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis()) - System.nanoTime();
    }

    private static int nodes(ZooKeeper zooKeeper, Subject subject) throws KeeperException, InterruptedException {
        int nodes = 0;
        for (int lock = 0; lock < FaultClient.LOCKS; lock++) {
            String path = FaultClient.Threads.path(subject, lock);
            zooKeeper.sync(path);
            nodes += zooKeeper.getChildren(path, false).size();
        }
        return nodes;
    }

    private ServerLog serverLog() throws IOException {
        return ServerLog.read(
                ensemble.servers().stream().map(EnsembleServer::dataDirectory).toList(), clocks);
    }

    /** Waits until the condition holds or the time is up. What is missing then is counted by the verdict. */
    private static void await(Duration limit, Callable<Boolean> condition) {
        try {
            Awaitility.await().atMost(limit).until(condition);
        } catch (ConditionTimeoutException e) {
            // The verdict counts what is missing.
        }
    }

    /**
     * Kills all processes, even those that are stopped by SIGSTOP. Runs when this JVM exits, for example after Ctrl-C.
     */
    private void abandon() {
        ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
        ensemble.close();
    }

    @Override
    public void close() throws NoSuchObjectException {
        clients.forEach(RemoteJvm::close);
        ensemble.close();
        UnicastRemoteObject.unexportObject(referee, true);
    }
}
