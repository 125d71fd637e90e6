// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.internal.ClientScene;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What {@link ConnectionState} says of each state. */
@Tag("H94")
class ConnectionStateTest extends ClientScene {
    private static final Duration STEP = Duration.ofMillis(10);

    @Test
    void sessionAfterAnExpiredOne_isConnectingUntilItIsConnected() {
        List<ConnectionState> told = new ArrayList<>();
        client.addConnectionListener(told::add);
        scheduler.run();
        operations.begin(State.CONNECTING);
        become(State.EXPIRED);
        scheduler.run();
        assertThat(client.connectionState()).isEqualTo(ConnectionState.CONNECTING);
        become(State.CONNECTED);
        assertThat(told)
                .containsExactly(
                        ConnectionState.CONNECTED,
                        ConnectionState.EXPIRED,
                        ConnectionState.CONNECTING,
                        ConnectionState.CONNECTED);
    }

    @Test
    void sessionOfAConnectedHandle_isNeverConnecting() {
        List<ConnectionState> told = new ArrayList<>();
        client.addConnectionListener(told::add);
        scheduler.run();
        become(State.EXPIRED);
        scheduler.run();
        assertThat(told).containsExactly(ConnectionState.CONNECTED, ConnectionState.EXPIRED, ConnectionState.CONNECTED);
    }

    // ---- By the clock.

    private final List<ConnectionState> told = new ArrayList<>();

    /** A lease, with everything told from now on. */
    private Lease hold() {
        scheduler.run();
        Lease lease = asked(lock("/locks/orders")).join();
        client.addConnectionListener(told::add);
        return lease;
    }

    private void pass(Duration time, Lease lease) {
        for (Duration passed = Duration.ZERO; passed.compareTo(time) < 0; passed = passed.plus(STEP)) {
            scheduler.advance(STEP);
            if (lease.state() == LeaseState.LOST) {
                assertThat(client.connectionState()).isEqualTo(ConnectionState.EXPIRED);
            }
        }
    }

    @Test
    @Tag("H145")
    void sessionThatIsCutOff_isExpiredWithItsLease_andOnce() {
        Lease lease = hold();
        List<List<ConnectionState>> uponLoss = new ArrayList<>();
        lease.onLost(() -> uponLoss.add(List.copyOf(told)));
        become(State.DISCONNECTED);
        pass(operations.sessionTimeout(), lease);
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThat(told).containsExactly(ConnectionState.SUSPENDED, ConnectionState.EXPIRED);
        assertThat(uponLoss).as("told before the loss").containsExactly(told);
        become(State.DISCONNECTED);
        become(State.EXPIRED);
        scheduler.run();
        assertThat(told).containsExactly(ConnectionState.SUSPENDED, ConnectionState.EXPIRED, ConnectionState.CONNECTED);
    }

    @Test
    @Tag("H145")
    void sessionThatTurnsOutToLive_isConnectedAgain() {
        Lease lease = hold();
        become(State.DISCONNECTED);
        pass(operations.sessionTimeout(), lease);
        become(State.CONNECTED);
        scheduler.run();
        assertThat(told).containsExactly(ConnectionState.SUSPENDED, ConnectionState.EXPIRED, ConnectionState.CONNECTED);
        assertThat(client.connectionState()).isEqualTo(ConnectionState.CONNECTED);
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    }

    /** A server that is cut off from its leader answers pings, and nothing else. */
    @Test
    @Tag("H145")
    void connectionThatConfirmsNothing_isExpiredWithTheLease_untilItDoes() {
        Lease lease = hold();
        Duration silence = operations.sessionTimeout().multipliedBy(5).dividedBy(4);
        operations.delayAnswersOf(Request.MULTI, silence);
        pass(operations.sessionTimeout().multipliedBy(7).dividedBy(6), lease);
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThat(told).containsExactly(ConnectionState.EXPIRED);
        scheduler.advance(silence);
        assertThat(told).containsExactly(ConnectionState.EXPIRED, ConnectionState.CONNECTED);
    }

    @Test
    @Tag("H145")
    void sessionWithoutLeases_isExpiredAfterATimeoutWithoutAConnection() {
        scheduler.run();
        scheduler.advance(Duration.ofHours(1)); // in which it has written nothing
        assertThat(client.connectionState()).isEqualTo(ConnectionState.CONNECTED);
        client.addConnectionListener(told::add);
        become(State.DISCONNECTED);
        scheduler.advance(operations.sessionTimeout().minus(STEP));
        assertThat(client.connectionState()).isEqualTo(ConnectionState.SUSPENDED);
        scheduler.advance(STEP);
        assertThat(client.connectionState()).isEqualTo(ConnectionState.EXPIRED);
        assertThat(told).containsExactly(ConnectionState.SUSPENDED, ConnectionState.EXPIRED);
    }

    @Test
    @Tag("H145")
    void shortLossesOfTheConnection_doNotAddUp() {
        scheduler.run();
        client.addConnectionListener(told::add);
        for (int i = 0; i < 5; i++) {
            become(State.DISCONNECTED);
            scheduler.advance(operations.sessionTimeout().minus(STEP));
            become(State.CONNECTED);
        }
        assertThat(told).doesNotContain(ConnectionState.EXPIRED);
    }

    /** Nobody has looked yet: the process was stopped, say. */
    @Test
    @Tag("H145")
    void state_isAskedOfTheClock() {
        Lease lease = hold();
        scheduler.skip(operations.sessionTimeout());
        assertThat(client.connectionState()).isEqualTo(ConnectionState.EXPIRED);
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
        assertThat(client.connectionState()).isEqualTo(ConnectionState.EXPIRED);
    }

    // ---- By the clock, on a thread that stands still in the middle of the look.

    private void standStill(Runnable meanwhile) {
        scheduler.uponTime = () -> {
            scheduler.uponTime = () -> {};
            meanwhile.run();
            scheduler.advance(operations.sessionTimeout().multipliedBy(2));
        };
    }

    @Test
    @Tag("H312")
    void lookThatTakesASessionTimeout_takesNoConnectionForLostThatHasComeBack() {
        scheduler.run();
        become(State.DISCONNECTED);
        standStill(() -> become(State.CONNECTED));
        assertThat(client.connectionState()).isNotEqualTo(ConnectionState.EXPIRED);
        assertThat(client.connectionState()).isEqualTo(ConnectionState.CONNECTED);
    }

    /** A session without leases writes nothing. */
    @Test
    @Tag("H312")
    void lookThatTakesASessionTimeout_takesNoSessionForLostWhoseLeaseWasClosed() {
        Lease lease = hold();
        standStill(lease::closeAsync);
        assertThat(client.connectionState()).isEqualTo(ConnectionState.CONNECTED);
        assertThat(told).isEmpty();
    }
}
