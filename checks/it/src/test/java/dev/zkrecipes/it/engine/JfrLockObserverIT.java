// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.jfr.JfrLockObserver;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a recording of Flight Recorder shows of locks. */
class JfrLockObserverIT extends ServerStage {
    private static final Path SETTINGS = Path.of("../../docs/zkrecipes.jfc");

    @TempDir
    Path folder;

    private List<RecordedEvent> recorded(String path, boolean enabled) throws Exception {
        Path file = folder.resolve("locks.jfr");
        try (Recording recording = enabled ? new Recording(Configuration.create(SETTINGS)) : new Recording();
                ZooKeeperClient client =
                        client(settings().sessionTimeout(Duration.ofSeconds(20)).observer(new JfrLockObserver()))) {
            recording.start();
            InterProcessMutex mutex =
                    new InterProcessMutex(client, path, LockOptions.defaults().withName("orders"));
            mutex.acquire().close();
            Lease lease = mutex.acquire();
            CompletableFuture<Boolean> busy =
                    CompletableFuture.supplyAsync(() -> mutex.tryAcquire().isEmpty(), task -> new Thread(task).start());
            assertThat(busy.get(120, TimeUnit.SECONDS)).isTrue();
            expire(client);
            assertThat(Soon.get(lease.ended())).isEqualTo(LeaseState.LOST);
            CompletableFuture<Void> told = new CompletableFuture<>();
            lease.onLost(() -> told.complete(null));
            told.get(120, TimeUnit.SECONDS);
            lease.close();
            if (enabled) {
                Soon.await().until(() -> {
                    recording.dump(file);
                    return eventsIn(file, path).stream()
                            .anyMatch(event -> event.getEventType().getName().endsWith("LockLoss"));
                });
            }
            recording.stop();
            recording.dump(file);
        }
        return eventsIn(file, path);
    }

    /** Of this test only: others record in the same process. */
    private static List<RecordedEvent> eventsIn(Path file, String path) throws Exception {
        return RecordingFile.readAllEvents(file).stream()
                .filter(event -> event.getEventType().getName().startsWith("dev.zkrecipes."))
                .filter(event -> path.equals(event.getString("path")))
                .toList();
    }

    private static List<String> outcomes(List<RecordedEvent> events, String type) {
        return events.stream()
                .filter(event -> event.getEventType().getName().equals("dev.zkrecipes." + type))
                .map(event -> event.getString(type.equals("LockLoss") ? "reason" : "outcome"))
                .toList();
    }

    @Test
    void enabledRecording_hasWaitsHoldsAndLosses() throws Exception {
        List<RecordedEvent> events = recorded("/jfr/on", true);
        assertThat(outcomes(events, "LockWait")).containsExactlyInAnyOrder("granted", "granted", "busy");
        assertThat(outcomes(events, "LockHold")).containsExactlyInAnyOrder("released", "lost");
        assertThat(outcomes(events, "LockLoss")).singleElement().asString().endsWith(" has ended (EXPIRED)");
        assertThat(events).allSatisfy(event -> {
            assertThat(event.getString("name")).isEqualTo("orders");
            assertThat(event.getString("kind")).isEqualTo("mutex");
        });
        assertThat(events)
                .filteredOn(event -> event.getEventType().getName().endsWith("LockWait"))
                .filteredOn(event -> event.getString("outcome").equals("granted"))
                .allSatisfy(event -> {
                    assertThat(event.getDuration()).isPositive();
                    assertThat(event.getStackTrace().getFrames())
                            .anyMatch(frame -> frame.getMethod().getName().equals("recorded"));
                });
    }

    @Test
    void defaultRecording_hasNone() throws Exception {
        assertThat(recorded("/jfr/off", false)).isEmpty();
    }
}
