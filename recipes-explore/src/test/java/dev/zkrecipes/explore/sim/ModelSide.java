// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.explore.sim;

import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import java.time.Duration;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs.Ids;
import org.jspecify.annotations.Nullable;

/** The simulated ensemble without faults, which is given time to come to rest after each operation. */
final class ModelSide implements Side {
    private static final Duration SESSION = Duration.ofMinutes(5);
    private static final Duration AWAY = SESSION.dividedBy(2);
    private static final Duration REST = Duration.ofSeconds(10);

    private final Simulation simulation;
    private final SimulatedZooKeeper ensemble;
    private @Nullable SimulatedProcess first;
    private @Nullable ZooKeeperOperations sessionOfFirst;
    private int opened;
    private long backAt;

    ModelSide(Choices choices) {
        simulation = new Simulation(choices);
        ensemble = new SimulatedZooKeeper(simulation, SESSION, SESSION.dividedBy(6));
    }

    SimulatedZooKeeper ensemble() {
        return ensemble;
    }

    /** Below a path, with that node itself. */
    SortedMap<String, TreeNode> nodes(String base) {
        SortedMap<String, TreeNode> found = new TreeMap<>(ensemble.committed().nodes());
        found.keySet().removeIf(path -> !path.equals(base) && !path.startsWith(base + "/"));
        return found;
    }

    @Override
    public void makeBase(String path, int counter) {
        ensemble.beginCountersAt(counter);
        ensemble.leader()
                .take(
                        0,
                        draft -> Answer.ok(draft.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT)),
                        0);
        ensemble.beginCountersAt(0);
        settle();
    }

    @Override
    public ZooKeeperOperations open() {
        SimulatedScheduler scheduler = new SimulatedScheduler(simulation, ++opened, failure -> {
            throw new AssertionError("a task failed", failure);
        });
        CompletableFuture<ZooKeeperOperations.State> connected = new CompletableFuture<>();
        SimulatedProcess process = ensemble.process(scheduler, "client " + opened);
        ZooKeeperOperations session = process.open(connected::complete);
        if (first == null) {
            first = process;
            sessionOfFirst = session;
        }
        await(connected);
        settle();
        return session;
    }

    @Override
    public void leave() {
        if (first != null) {
            first.cutOff(AWAY);
        }
        backAt = simulation.now() + AWAY.toNanos();
    }

    @Override
    public void comeBack() {
        if (simulation.now() > backAt) {
            throw new AssertionError("too much was done meanwhile");
        }
        simulation.passUntil(backAt);
        while (!isAnswered()) {
            settle();
        }
        settle();
    }

    @Override
    public void reapContainers() {
        ensemble.reapContainers();
    }

    /** What comes late here may come late several times, one after the other: so it may take its client a while. */
    private boolean isAnswered() {
        CompletableFuture<Answer<?>> answered = new CompletableFuture<>();
        if (sessionOfFirst != null) {
            sessionOfFirst.read("/", answered::complete);
        }
        return !await(answered).isUnsettled();
    }

    @Override
    public <T> T await(CompletableFuture<T> answer) {
        long limit = simulation.now() + SESSION.toNanos();
        while (!answer.isDone() && simulation.step(limit)) {}
        if (!answer.isDone()) {
            throw new AssertionError("the model does not answer");
        }
        return answer.join();
    }

    @Override
    public void settle() {
        simulation.passUntil(simulation.now() + REST.toNanos());
    }

    @Override
    public long lastZxid() {
        return ensemble.zxidAfter(ensemble.log().size());
    }

    @Override
    public Set<String> watched(Set<String> candidates) {
        return watched(WatchKind.DATA, candidates);
    }

    @Override
    public Set<String> watchedForDeletion(Set<String> candidates) {
        return watched(WatchKind.CHILDREN, candidates);
    }

    private Set<String> watched(WatchKind kind, Set<String> candidates) {
        return ensemble.watchedNodes(kind).stream().filter(candidates::contains).collect(Collectors.toSet());
    }
}
