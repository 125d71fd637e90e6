// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.handoff;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.LockObserver.Ending;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.EngineScheduler;
import dev.zkrecipes.core.spi.port.Ports;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.NodeEvent;
import dev.zkrecipes.explore.sim.Choices;
import dev.zkrecipes.explore.sim.SimulatedProcess;
import dev.zkrecipes.explore.sim.SimulatedScheduler;
import dev.zkrecipes.explore.sim.SimulatedZooKeeper;
import dev.zkrecipes.explore.sim.Simulation;
import dev.zkrecipes.test.internal.Remains;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/** One client of a simulated ensemble. Nothing happens but what a test does; callbacks run at once. */
abstract class QueueScene {
    static final String PATH = "/locks/orders";
    static final Duration SESSION = Duration.ofSeconds(6);
    static final String CREATE = "createEphemeralSequential";

    private final Simulation simulation = new Simulation(Choices.replay(new int[0]));
    final SimulatedZooKeeper ensemble = new SimulatedZooKeeper(simulation, SESSION, SESSION.dividedBy(6));
    final SimulatedScheduler scheduler = new SimulatedScheduler(simulation, 1, failure -> {
        throw new AssertionError("the engine failed", failure);
    });
    final SimulatedProcess process = ensemble.process(scheduler, "one");
    final List<String> sent = new ArrayList<>(); // the requests of the client, as the port calls them
    final Map<String, Code> refusals = new HashMap<>(); // of the next request of that name
    boolean hasEvents = true; // whether the server tells of new children
    Runnable whenOneGivesUp = () -> {};
    Runnable whenThreadIsLate = () -> {}; // what happens, once, between the end of a wait and the waiting thread
    final ZooKeeperClient client = Ports.clientBuilder(states -> noting(process.open(states)), lateThreads())
            .callbackExecutor(Runnable::run)
            .observer(request -> new LockObserver.Progress() {
                @Override
                public void onAbandoned(Duration waited, Ending how) {
                    whenOneGivesUp.run();
                }
            })
            .build();

    private ZooKeeperOperations noting(ZooKeeperOperations operations) {
        return (ZooKeeperOperations) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {ZooKeeperOperations.class}, (proxy, method, arguments) -> {
                    if (arguments != null) {
                        sent.add(method.getName());
                        if (method.getName().equals("watchChildren") && !hasEvents) {
                            Consumer<NodeEvent> nobody = event -> {};
                            arguments[1] = nobody;
                        }
                        Code refusal = refusals.remove(method.getName());
                        if (refusal != null) {
                            scheduler.execute(() -> replyOf(arguments).accept(Answer.failed(refusal)));
                            return null;
                        }
                    }
                    return method.invoke(operations, arguments);
                });
    }

    private static @Nullable Object invoke(Method method, Object target, Object[] arguments) throws Throwable {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private EngineScheduler lateThreads() {
        return (EngineScheduler) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {EngineScheduler.class}, (proxy, method, arguments) -> {
                    try {
                        return invoke(method, scheduler, arguments);
                    } finally {
                        if (method.getName().equals("await")) {
                            Runnable meanwhile = whenThreadIsLate;
                            whenThreadIsLate = () -> {};
                            meanwhile.run();
                        }
                    }
                });
    }

    @SuppressWarnings("unchecked")
    private static Consumer<Answer<?>> replyOf(Object[] request) {
        return (Consumer<Answer<?>>) request[request.length - 1];
    }

    long creates() {
        return sent.stream().filter(CREATE::equals).count();
    }

    void pass(Duration time) {
        simulation.passUntil(simulation.now() + time.toNanos());
    }

    /** Everything that is under way ends; no time runs out. */
    void settle() {
        pass(Duration.ofMillis(500));
    }

    List<CompletableFuture<Lease>> ask(InterProcessLock lock, int count) {
        List<CompletableFuture<Lease>> asked =
                Stream.generate(lock::acquireAsync).limit(count).toList();
        settle();
        return asked;
    }

    static Lease granted(CompletableFuture<Lease> asked) {
        assertThat(asked).isCompleted();
        return asked.join();
    }

    static String node(CompletableFuture<Lease> asked) {
        return granted(asked).guard().getPath();
    }

    void giveBack(CompletableFuture<Lease> asked) {
        var unused = granted(asked).closeAsync();
        settle();
    }

    List<String> nodes() {
        return ensemble.committed().exists(PATH) ? ensemble.committed().children(PATH) : List.of();
    }

    /** What is known of a path goes when it was not used for a while. */
    void assertLeftNothing() {
        settle();
        assertThat(nodes()).isEmpty();
        pass(Duration.ofMinutes(1));
        assertThat(Remains.in(client)).isEmpty();
    }
}
