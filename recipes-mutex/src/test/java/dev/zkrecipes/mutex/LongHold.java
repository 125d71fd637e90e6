// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.mutex;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.spi.port.Ports;
import dev.zkrecipes.explore.sim.Choices;
import dev.zkrecipes.explore.sim.SimulatedProcess;
import dev.zkrecipes.explore.sim.SimulatedScheduler;
import dev.zkrecipes.explore.sim.SimulatedZooKeeper;
import dev.zkrecipes.explore.sim.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A simulated process that holds a mutex for as long as it can, while lines go dead, its server is cut off from the leader
 * and it stands still itself. The explorer's processes hold too shortly for that.
 */
final class LongHold {
    private static final Duration SESSION = Duration.ofSeconds(6);
    private static final Duration LENGTH = SESSION.multipliedBy(50);
    private static final int[] TICKS = {2, 3, 6};

    private final Choices choices;
    private final Simulation simulation;
    private final SimulatedZooKeeper ensemble;
    private final SimulatedScheduler scheduler;
    private final SimulatedProcess process;
    private final InterProcessMutex mutex;
    private final List<String> stale = new ArrayList<>();
    private @Nullable Lease lease;
    private @Nullable String node;
    private long grantedAt;

    private LongHold(long seed) {
        this.choices = Choices.random(seed);
        this.simulation = new Simulation(choices);
        this.ensemble =
                new SimulatedZooKeeper(simulation, SESSION, SESSION.dividedBy(TICKS[choices.next(TICKS.length)]));
        this.scheduler = new SimulatedScheduler(simulation, seed, failure -> {
            throw new AssertionError("seed " + seed, failure);
        });
        this.process = ensemble.process(scheduler, "holder");
        this.mutex = new InterProcessMutex(
                Ports.clientBuilder(process, scheduler)
                        .callbackExecutor(Runnable::run)
                        .build(),
                "/locks/long");
    }

    /** Plays one schedule; says when a lease was valid whose node was gone, once for each lease. */
    static List<String> play(long seed) {
        LongHold run = new LongHold(seed);
        run.simulation.afterEachStep(run::look);
        run.acquire();
        run.planFault();
        run.simulation.passUntil(LENGTH.toNanos());
        return run.stale;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // what fails here fails the schedule
    private void acquire() {
        mutex.acquireAsync().whenComplete((granted, failure) -> {
            if (granted == null) {
                scheduler.after(SESSION.dividedBy(10), this::acquire);
                return;
            }
            lease = granted;
            grantedAt = simulation.now();
            node = granted.state() == LeaseState.LOST ? null : granted.guard().getPath();
            granted.ended().thenRun(() -> {
                lease = null;
                granted.closeAsync();
                scheduler.after(SESSION.dividedBy(10), this::acquire);
            });
        });
    }

    private void look() {
        Lease current = lease;
        String held = node;
        if (current != null && held != null && !scheduler.isPaused()) {
            if (current.isValid() && !ensemble.committed().exists(held)) {
                stale.add("after "
                        + Duration.ofNanos(simulation.now() - grantedAt).toMillis() + " ms");
                node = null;
            }
        }
    }

    private Duration time() {
        return SESSION.multipliedBy(choices.next(33)).dividedBy(16);
    }

    private void planFault() {
        simulation.after(time(), () -> {
            switch (choices.next(8)) {
                case 0 -> process.disconnect();
                case 1 -> process.stall(time());
                case 2 -> scheduler.pause(time());
                case 3 -> {
                    if (!ensemble.isTroubled()) {
                        ensemble.deposeLeader(time());
                    }
                }
                default -> {
                    if (!ensemble.isTroubled()) {
                        ensemble.cutFollower(choices.next(2), time());
                    }
                }
            }
            planFault();
        });
    }
}
