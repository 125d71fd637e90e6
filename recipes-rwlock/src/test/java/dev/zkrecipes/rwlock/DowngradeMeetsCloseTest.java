// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.rwlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.port.Ports;
import dev.zkrecipes.explore.sim.Choices;
import dev.zkrecipes.explore.sim.SimulatedProcess;
import dev.zkrecipes.explore.sim.SimulatedScheduler;
import dev.zkrecipes.explore.sim.SimulatedZooKeeper;
import dev.zkrecipes.explore.sim.Simulation;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A thread asks for the read lock while another one closes its write hold. */
class DowngradeMeetsCloseTest {
    private static final Duration SESSION = Duration.ofSeconds(6);
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final Simulation simulation = new Simulation(Choices.replay(new int[0]));
    private final SimulatedZooKeeper ensemble = new SimulatedZooKeeper(simulation, SESSION, SECOND);
    private final SimulatedScheduler scheduler = new SimulatedScheduler(simulation, 1, failure -> {
        throw new AssertionError("the engine failed", failure);
    });
    private final SimulatedProcess process = ensemble.process(scheduler, "one");
    private final ZooKeeperClient client = Ports.clientBuilder(process, scheduler)
            .callbackExecutor(Runnable::run)
            .build();
    private final InterProcessReadWriteLock lock = new InterProcessReadWriteLock(client, "/locks/a");

    @Test
    @Tag("H211")
    void writeHoldThatIsClosedMeanwhile_isNoLoss() throws InterruptedException {
        Lease writing = lock.writeLock().acquire();
        long token = writing.fencingToken();
        var unused = writing.closeAfter(SECOND);
        process.cutOff(SECOND.multipliedBy(2));
        try (Lease reading = lock.readLock().acquire()) {
            assertThat(writing.state()).isEqualTo(LeaseState.RELEASED);
            assertThat(reading.state()).isEqualTo(LeaseState.HELD);
            assertThat(reading.fencingToken()).isGreaterThan(token);
        }
    }

    /** What was given back before the end of the session is not lost with it. */
    @Test
    @Tag("H211")
    void writeHoldThatIsClosedBeforeItsSessionEnds_isNoLoss() throws InterruptedException {
        Lease writing = lock.writeLock().acquire();
        var unused = writing.closeAfter(SECOND);
        process.cutOff(SESSION.multipliedBy(2));
        try (Lease reading = lock.readLock().acquire()) {
            assertThat(writing.state()).isEqualTo(LeaseState.RELEASED);
            assertThat(reading.state()).isEqualTo(LeaseState.HELD);
        }
    }

    @Test
    @Tag("H02")
    void writeHoldThatIsLostMeanwhile_isALoss() throws InterruptedException {
        Lease writing = lock.writeLock().acquire();
        process.cutOff(SESSION.multipliedBy(2));
        assertThatThrownBy(lock.readLock()::acquire).isInstanceOf(LockLostException.class);
        assertThat(writing.state()).isEqualTo(LeaseState.LOST);
    }
}
