// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class HandleStatesTest {
    private static final Duration LONG = Duration.ofSeconds(1);

    private final List<Object> told = new ArrayList<>();
    private final ManualScheduler scheduler = new ManualScheduler();
    private final HandleStates states = new HandleStates(told::add, scheduler);

    HandleStatesTest() {
        states.whenConnected(() -> told.add("connected"));
    }

    @Test
    void events_areTold() {
        states.onEvent(State.CONNECTED);
        states.onEvent(State.DISCONNECTED);
        states.onEvent(State.READ_ONLY);
        states.onEvent(State.EXPIRED);
        assertThat(told)
                .containsExactly(State.CONNECTED, "connected", State.DISCONNECTED, State.READ_ONLY, State.EXPIRED);
    }

    @Test
    void secondConnection_followsALoss() {
        states.foundIn(State.CONNECTED);
        states.onEvent(State.CONNECTED);
        assertThat(told).containsExactly(State.DISCONNECTED, State.CONNECTED, "connected");
    }

    @Test
    void connectionAfterAReadOnlyOne_followsALoss() {
        states.onEvent(State.READ_ONLY);
        states.onEvent(State.CONNECTED);
        assertThat(told).containsExactly(State.READ_ONLY, State.DISCONNECTED, State.CONNECTED, "connected");
    }

    @Test
    void lostRequests_tellTheLossOnce_ifNoEventDoes() {
        states.onEvent(State.CONNECTED);
        told.clear();
        states.onLoss();
        states.onLoss();
        assertThat(told).isEmpty();
        scheduler.advance(LONG);
        states.onLoss();
        scheduler.advance(LONG);
        assertThat(told).containsExactly(State.DISCONNECTED);
    }

    /** The client has given the handle up, and hears no more of it. */
    @Test
    @Tag("H193")
    void handleThatIsNotUsedAnyMore_hasNoTimer() {
        states.onEvent(State.CONNECTED);
        states.onLoss();
        states.end();
        assertThat(scheduler.timers()).isZero();
        states.onLoss();
        states.onEvent(State.DISCONNECTED);
        assertThat(scheduler.timers()).isZero();
    }

    @Test
    void lostRequestOnAReadOnlyConnection_tellsTheLoss() {
        states.onEvent(State.READ_ONLY);
        states.onLoss();
        scheduler.advance(LONG);
        assertThat(told).containsExactly(State.READ_ONLY, State.DISCONNECTED);
    }

    @Test
    void lostRequest_saysNothingOfTheNextConnection() {
        states.onEvent(State.CONNECTED);
        states.onLoss();
        states.onEvent(State.DISCONNECTED);
        states.onEvent(State.CONNECTED);
        told.clear();
        scheduler.advance(LONG);
        assertThat(told).isEmpty();
        states.onLoss();
        scheduler.advance(LONG);
        assertThat(told).containsExactly(State.DISCONNECTED);
    }

    @Test
    void lostRequest_isNoNews_withoutAConnection() {
        states.onLoss();
        states.onEvent(State.EXPIRED);
        states.onLoss();
        scheduler.advance(LONG);
        assertThat(told).containsExactly(State.EXPIRED);
        assertThat(states.current()).isEqualTo(State.EXPIRED);
    }

    @Test
    void whileTheConnectionIsLost_itIsLookedForAgainAndAgain() {
        states.whileDisconnected(() -> told.add("look"));
        states.onEvent(State.DISCONNECTED);
        scheduler.advance(Duration.ofSeconds(5));
        assertThat(told).containsExactly(State.DISCONNECTED, "look", "look");
        states.onEvent(State.CONNECTED);
        scheduler.advance(Duration.ofSeconds(5));
        assertThat(told).endsWith("look", State.CONNECTED, "connected");
        assertThat(scheduler.timers()).isZero();
    }

    @Test
    void contact_isNewsOnlyAfterALoss() {
        states.onContact(State.CONNECTED);
        states.onEvent(State.CONNECTED);
        states.onContact(State.READ_ONLY);
        assertThat(told).containsExactly(State.CONNECTED, "connected");
        states.onEvent(State.DISCONNECTED);
        states.onContact(State.READ_ONLY);
        assertThat(told).endsWith(State.DISCONNECTED, State.READ_ONLY);
    }

    // ---- What an event means.

    /** ZooKeeper's client tells no state if it could not make what logs in, as with DIGEST-MD5 in FIPS mode. */
    @Test
    @Tag("H104")
    void eventWithoutAState_isAFailedLogin() {
        assertThat(HandleStates.of(null, true)).contains(State.AUTH_FAILED);
    }

    /** By name: two are deprecated. */
    private static Optional<State> expected(KeeperState event, boolean logsIn) {
        return switch (event.name()) {
            case "SyncConnected" -> logsIn ? Optional.empty() : Optional.of(State.CONNECTED);
            case "SaslAuthenticated" -> logsIn ? Optional.of(State.CONNECTED) : Optional.empty();
            case "ConnectedReadOnly" -> Optional.of(State.READ_ONLY);
            case "Disconnected" -> Optional.of(State.DISCONNECTED);
            case "Expired" -> Optional.of(State.EXPIRED);
            case "Closed" -> Optional.of(State.CLOSED);
            case "AuthFailed" -> Optional.of(State.AUTH_FAILED); // the connection may go on as nobody
            case "Unknown", "NoSyncConnected" -> Optional.empty(); // never sent
            default -> throw new AssertionError("nobody has decided what " + event + " means");
        };
    }

    @ParameterizedTest
    @EnumSource
    @Tag("H110")
    @Tag("H139")
    void everyEvent_isAStateOrNone(KeeperState event) {
        assertThat(HandleStates.of(event, false)).isEqualTo(expected(event, false));
        assertThat(HandleStates.of(event, true)).isEqualTo(expected(event, true));
    }
}
