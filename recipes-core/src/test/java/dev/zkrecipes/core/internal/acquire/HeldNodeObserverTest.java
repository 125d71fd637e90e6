// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.internal.acquire.Acquisition.Mode;
import dev.zkrecipes.core.internal.hold.Grant;
import dev.zkrecipes.core.internal.hold.Held;
import dev.zkrecipes.core.internal.hold.HeldNode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the observer of a held node hears. */
class HeldNodeObserverTest extends AcquireFixture {
    private final List<String> told = new ArrayList<>();
    private final Held.Observer observer = new Held.Observer() {
        @Override
        public void onReleased() {
            told.add("released");
        }

        @Override
        public void onLost(String reason) {
            told.add(reason);
        }

        @Override
        public void onRevocationRequested() {
            told.add("asked");
        }
    };
    private HeldNode held;

    @BeforeEach
    void acquire() {
        AcquireLoop loop = launched(Mode.QUEUE);
        scheduler.run();
        held = assertGranted(loop);
    }

    @Test
    void release_isToldOnTheThreadThatReleases_once() {
        held.observe(observer);
        Grant.of(held).release();
        assertThat(told).containsExactly("released");
        Grant.of(held).release();
        scheduler.run();
        assertThat(told).containsExactly("released");
    }

    @Test
    void loss_isToldOnTheEngineThread_once() {
        held.observe(observer);
        held.lose("a test");
        assertThat(told).isEmpty();
        scheduler.run();
        Grant.of(held).release();
        scheduler.run();
        assertThat(told).containsExactly("a test");
    }

    @Test
    void observerThatComesAfterTheEnd_isToldAtOnce() {
        Grant.of(held).release();
        scheduler.run();
        held.observe(observer);
        assertThat(told).containsExactly("released");
    }
}
