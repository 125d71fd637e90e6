// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.faults;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Workers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * All recipes, alone and together in multi-locks, by several clients, while connections are cut and paused and requests
 * and replies are lost. The sessions outlive every fault, so exclusion holds strictly, no client loses a lease or waits
 * forever, and at the end no node is left.
 *
 * <p>{@code -Dfaults.seconds=600} makes it longer, {@code -Dfaults.seed=N} repeats the choices of a run.
 */
@Tag("soak")
@WithZooKeeper(tickTimeMillis = 200)
class AllRecipesUnderFaultsIT {
    private static final int CLIENTS = 4;
    private static final int THREADS = 3;
    private static final int ENOUGH_VISITS = 100;
    private static final List<RequestType> KINDS = List.of(
            RequestType.CREATE2,
            RequestType.MULTI,
            RequestType.MULTI_READ,
            RequestType.DELETE,
            RequestType.GET_CHILDREN2,
            RequestType.GET_DATA);

    private final long seed = Long.getLong("faults.seed", System.nanoTime());
    private final Duration length = Duration.ofSeconds(Integer.getInteger("faults.seconds", 15));
    private final House house = new House();
    private final List<ZooKeeperClient> opened = new ArrayList<>();
    private final List<FaultProxy> proxies = new ArrayList<>();

    @Test
    @Tag("H25")
    @Tag("H35")
    void everyRuleHolds_noWaiterIsForgotten_nothingIsLeft(EmbeddedZooKeeper server) throws Exception {
        System.out.println("-Dfaults.seed=" + seed);
        AtomicBoolean over = new AtomicBoolean();
        try (TestClients clients = TestClients.of(server, Duration.ofSeconds(20));
                Workers workers = new Workers()) {
            for (int c = 0; c < CLIENTS; c++) {
                FaultProxy proxy = FaultProxy.to(server);
                proxies.add(proxy);
                ZooKeeperClient client = clients.open(proxy.connectString());
                opened.add(client);
                for (int t = 0; t < THREADS; t++) {
                    Visitor visitor = new Visitor(house, client, seed + 10L * c + t);
                    workers.start("visitor-" + c + "-" + t, () -> {
                        while (!over.get()) {
                            visitor.visit();
                        }
                    });
                }
            }
            makeTrouble();
            over.set(true);
            proxies.forEach(FaultProxy::cut); // what is held up goes on with the next connection
            joinAll(workers, new Scene(server, opened, proxies));
            assertThat(house.violations()).isEmpty();
            assertThat(house.visits()).isGreaterThan(ENOUGH_VISITS);
            await().atMost(Duration.ofSeconds(120))
                    .until(() -> server.children(House.PATH).stream()
                            .allMatch(lock ->
                                    server.children(House.PATH + "/" + lock).isEmpty()));
        }
        proxies.forEach(FaultProxy::close);
    }

    private static void joinAll(Workers workers, Scene scene) throws InterruptedException {
        try {
            workers.join(Duration.ofMinutes(1));
        } catch (AssertionError e) {
            scene.explain(e);
            throw e;
        }
    }

    private void makeTrouble() throws InterruptedException {
        Random random = new Random(seed);
        long end = System.nanoTime() + length.toNanos();
        long last = end + Duration.ofMinutes(1).toNanos();
        // A slow machine is given another minute.
        while (System.nanoTime() - end < 0 || (house.visits() <= ENOUGH_VISITS && System.nanoTime() - last < 0)) {
            FaultProxy proxy = proxies.get(random.nextInt(CLIENTS));
            RequestType kind = KINDS.get(random.nextInt(KINDS.size()));
            switch (random.nextInt(4)) {
                case 0 -> proxy.cut();
                case 1 -> proxy.dropReply(kind, 1 + random.nextInt(3));
                case 2 -> proxy.dropRequest(kind, 1 + random.nextInt(3));
                default -> {
                    proxy.pause();
                    TimeUnit.MILLISECONDS.sleep(random.nextInt(300));
                    proxy.resume();
                }
            }
            TimeUnit.MILLISECONDS.sleep(random.nextInt(2000));
        }
    }
}
