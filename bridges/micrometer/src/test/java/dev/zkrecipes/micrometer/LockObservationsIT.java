// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.micrometer;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.test.internal.ServerStage;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What a tracer is told of locks. */
class LockObservationsIT extends ServerStage {
    private final ObservationRegistry registry = ObservationRegistry.create();
    private final List<String> told = new CopyOnWriteArrayList<>();

    /** Keeps in words what a tracer would make spans of. */
    private final class Tracer implements ObservationHandler<Observation.Context> {
        @Override
        public void onStop(Observation.Context context) {
            String parent = context.getParentObservation() == null
                    ? "nothing"
                    : context.getParentObservation().getContextView().getName();
            told.add(context.getName() + " \"" + context.getContextualName() + "\" in " + parent + " "
                    + context.getAllKeyValues().stream()
                            .map(pair -> pair.getKey() + "=" + pair.getValue())
                            .sorted()
                            .toList());
        }

        @Override
        public void onEvent(Observation.Event event, Observation.Context context) {
            told.add("event " + event.getName());
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return true;
        }
    }

    @Test
    void waitsAndHolds_areChildrenOfTheCallersObservation() throws Exception {
        registry.observationConfig().observationHandler(new Tracer());
        ZooKeeperClient client =
                client(settings().sessionTimeout(Duration.ofSeconds(20)).observer(new LockObservations(registry)));
        InterProcessLock lock = new LockInternals(
                        client,
                        "/traced",
                        new MutexDriver(),
                        LockOptions.defaults().withName("orders"))
                .threadOwned();
        Observation request = Observation.start("request", registry);
        try (Observation.Scope scope = request.openScope()) {
            lock.acquire().close();
        }
        request.stop();
        assertThat(told)
                .containsExactly(
                        "zkrecipes.acquire \"acquire orders\" in request"
                                + " [lock.kind=mutex, lock.name=orders, lock.outcome=granted, lock.path=/traced]",
                        "zkrecipes.hold \"hold orders\" in request"
                                + " [lock.kind=mutex, lock.name=orders, lock.outcome=released, lock.path=/traced]",
                        "request \"null\" in nothing []");

        told.clear();
        Lease lease = lock.acquire();
        expire(client);
        await().until(() -> told.size() == 3);
        assertThat(told.subList(1, 3))
                .containsExactly(
                        "event lost",
                        "zkrecipes.hold \"hold orders\" in nothing"
                                + " [lock.kind=mutex, lock.name=orders, lock.outcome=lost, lock.path=/traced]");
        lease.close();
    }

    @Test
    void asynchronousWaitsAndHolds_areChildrenOfTheCallersObservation() throws Exception {
        registry.observationConfig().observationHandler(new Tracer());
        ZooKeeperClient client = client(settings().observer(new LockObservations(registry)));
        InterProcessLock lock =
                new LockInternals(client, "/traced-later", new MutexDriver(), LockOptions.defaults()).threadOwned();
        Observation request = Observation.start("request", registry);
        CompletableFuture<Lease> asked;
        try (Observation.Scope scope = request.openScope()) {
            asked = lock.acquireAsync();
        }
        asked.get(120, TimeUnit.SECONDS).closeAsync().get(120, TimeUnit.SECONDS);
        request.stop();
        await().until(() -> told.size() == 3);
        assertThat(told)
                .filteredOn(line -> line.startsWith("zkrecipes."))
                .hasSize(2)
                .allSatisfy(line -> assertThat(line).contains(" in request "));
    }
}
