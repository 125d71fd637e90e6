// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class RosterTest {
    private final Roster roster = new Roster(6);

    private void say(int worker, Event.Kind kind, Map<String, Long> numbers) {
        roster.on(new Event(worker, kind, numbers));
    }

    private void grant(int worker, long token) {
        say(worker, Event.Kind.GRANTED, Map.of("token", token, "waited", 1L));
    }

    @Test
    void ready_isReadyWhenAllAre() {
        for (int worker = 1; worker <= 6; worker++) {
            assertThat(roster.isReady()).isFalse();
            say(worker, Event.Kind.READY, Map.of("pid", 1L, "timeout", 3000L));
        }
        assertThat(roster.isReady()).isTrue();
    }

    @Test
    void twoHoldersByLateNews_showTheLaterToken() {
        grant(1, 4096);
        grant(2, 2048);
        assertThat(roster.holder()).map(Roster.Member::name).contains("w1");
        say(1, Event.Kind.RELEASING, Map.of());
        say(2, Event.Kind.LOST, Map.of());
        assertThat(roster.holder()).isEmpty();
    }

    @Test
    void waiters_areNamedUnlessTheyAreMany() {
        assertThat(roster.waiting()).isEqualTo("nobody waits");
        say(3, Event.Kind.WAITING, Map.of());
        assertThat(roster.waiting()).isEqualTo("w3 waits");
        say(1, Event.Kind.WAITING, Map.of());
        assertThat(roster.waiting()).isEqualTo("w1 w3 wait");
        for (int worker = 1; worker <= 6; worker++) {
            say(worker, Event.Kind.WAITING, Map.of());
        }
        assertThat(roster.waiting()).isEqualTo("6 wait");
    }

    @Test
    void killedWorker_staysKilledDespiteLaterNews() {
        grant(1, 2048);
        roster.killed(1);
        say(1, Event.Kind.WAITING, Map.of());
        assertThat(roster.member(1).state()).isEqualTo(Roster.State.KILLED);
        assertThat(roster.holder()).isEmpty();
    }
}
