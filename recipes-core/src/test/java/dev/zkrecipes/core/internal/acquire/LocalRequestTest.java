// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.internal.queue.LockGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A request that ends while it is being given its place leaves that place all the same, and leaves it once. */
class LocalRequestTest {
    private final AcquireFixture fixture = new AcquireFixture();
    private final List<Boolean> left = new ArrayList<>();
    private final LocalRequest.Place place = new LocalRequest.Place() {
        @Override
        public boolean isBusy() {
            return true;
        }

        @Override
        public Optional<LockException> obstacle() {
            return Optional.empty();
        }

        @Override
        public void onLeft(boolean withoutTheLock) {
            left.add(withoutTheLock);
        }
    };

    private LocalRequest launched(boolean givesUpEarly) {
        LocalRequest launched = new LocalRequest(
                fixture.engine.requests(), LockGroup.of(fixture.spec(new TestDriver("lock-"))), false, request -> {
                    if (givesUpEarly) {
                        assertThat(request.giveUp()).isTrue();
                    }
                    request.stands(place);
                    request.leaveIfOver();
                });
        launched.launch();
        return launched;
    }

    @Test
    void requestThatEndedBeforeItStoodInItsPlace_leavesIt() {
        LocalRequest request = launched(true);
        assertThat(left).containsExactly(true);
        assertThat(request.wasSeenBusy()).isFalse();
        assertThat(fixture.engine.requests().open()).isEmpty();
    }

    @Test
    void requestThatEndsLater_leavesOnce() {
        LocalRequest request = launched(false);
        assertThat(left).isEmpty();
        assertThat(request.wasSeenBusy()).isTrue();
        request.giveUp();
        request.leaveIfOver();
        request.giveUp();
        assertThat(left).containsExactly(true);
    }
}
