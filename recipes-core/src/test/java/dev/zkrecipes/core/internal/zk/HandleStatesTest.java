// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

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
}
