// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import dev.zkrecipes.core.LockObserver;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Meters that the application removes, and those whose names it has taken. */
@Timeout(600)
class RemovedMetersTest {
    private static final LockObserver.Request REQUEST =
            new LockObserver.Request("/locks/orders", Optional.of("orders"), "lock-");

    private final MeterRegistry meters = new SimpleMeterRegistry();
    private final LockMetrics metrics = new LockMetrics(meters);

    private static LockObserver.Progress hold(LockMetrics metrics) {
        LockObserver.Progress asked = metrics.onWaiting(REQUEST);
        asked.onGranted(Duration.ofMillis(1));
        return asked;
    }

    private double value(String name) {
        return meters.get("zkrecipes.lock." + name)
                .meter()
                .measure()
                .iterator()
                .next()
                .getValue();
    }

    @Test
    void clearedRegistry_getsAllMetersBack_withWhatTheGaugesShow() {
        hold(metrics);
        LockObserver.Progress lost = hold(metrics);
        meters.clear();
        lost.onLost(Duration.ofMillis(1), "for a test");
        assertThat(value("held")).isEqualTo(1);
        assertThat(value("losses")).isEqualTo(1);
        assertThat(value("hold")).isEqualTo(1);
        hold(metrics);
        assertThat(value("wait")).isEqualTo(1);
        assertThat(meters.getMeters()).extracting(Meter::getId).hasSize(9);
    }

    @Test
    void clearedRegistry_getsAllMetersBack_fromANewObserver() {
        hold(metrics);
        meters.clear();
        hold(new LockMetrics(meters)).onRevocationRequested();
        assertThat(value("held")).isEqualTo(2);
        assertThat(value("waiting")).isZero();
        assertThat(value("revocations")).isEqualTo(1);
    }

    @Test
    void removedMeter_comesBack_alsoIfItIsRemovedBeforeItIsKnown() {
        AtomicInteger registrations = new AtomicInteger();
        LastingMeter<Counter> meter = RegistryMeters.of(meters).lasting("races", () -> {
            Counter counter = meters.counter("races");
            if (registrations.incrementAndGet() == 1) {
                meters.remove(counter);
            }
            return counter;
        });
        meter.update(Counter::increment);
        meter.update(Counter::increment);
        meter.update(Counter::increment);
        assertThat(registrations).hasValue(2);
        assertThat(meters.get("races").counter().count()).isEqualTo(2);
    }

    @Test
    void gauge_isRegisteredOnce_whateverElseIsRemoved() {
        assertThat(printedBy(() -> {
                    hold(metrics);
                    hold(new LockMetrics(meters));
                    meters.remove(meters.counter("of.the.application"));
                    hold(metrics);
                }))
                .as("Micrometer warns of a gauge that is registered twice")
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"wait,granted", "hold,lost", "waiting,", "held,", "timeouts,", "losses,", "revocations,", "oldest.hold,"
    })
    void nameThatIsTaken_isLeftOutWithOneWarning_andNoOtherMeter(String taken, @Nullable String outcome) {
        Tags tags = Tags.of("name", "orders", "kind", "mutex");
        Meter theirs = meters.summary("zkrecipes.lock." + taken, outcome == null ? tags : tags.and("outcome", outcome));
        String printed = printedBy(() -> {
            work();
            meters.remove(meters.counter("of.the.application")); // after which it is tried again
            work();
        });
        assertThat(printed.lines()).singleElement(STRING).contains("zkrecipes.lock." + taken, "Rename");
        List<String> all = new ArrayList<>(List.of(
                "held 0.0",
                "hold 2.0",
                "losses 2.0",
                "oldest.hold 0.0",
                "oldest.wait 0.0",
                "revocations 2.0",
                "timeouts 2.0",
                "wait 2.0",
                "wait 2.0",
                "waiting 0.0"));
        all.remove(all.stream()
                .filter(line -> line.startsWith(taken + " "))
                .findFirst()
                .orElseThrow());
        assertThat(ours()).containsExactlyElementsOf(all);

        meters.remove(theirs);
        assertThat(printedBy(this::work)).isEmpty();
        assertThat(ours()).hasSize(10);
    }

    /** A hold that is lost, and a request that times out. */
    private void work() {
        LockObserver.Progress held = hold(metrics);
        held.onRevocationRequested();
        held.onLost(Duration.ofMillis(1), "for a test");
        metrics.onWaiting(REQUEST).onAbandoned(Duration.ofMillis(1), LockObserver.Ending.TIMED_OUT);
    }

    private List<String> ours() {
        return meters.getMeters().stream()
                .filter(meter -> !(meter instanceof DistributionSummary))
                .map(meter -> meter.getId().getName().replace("zkrecipes.lock.", "") + " "
                        + meter.measure().iterator().next().getValue())
                .sorted()
                .toList();
    }

    private static String printedBy(Runnable work) {
        PrintStream terminal = System.err;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            work.run();
        } finally {
            System.setErr(terminal);
        }
        return printed.toString(StandardCharsets.UTF_8);
    }
}
