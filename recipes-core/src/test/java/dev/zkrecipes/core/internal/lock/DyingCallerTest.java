// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.internal.ClientScene;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.client.EngineClient;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whatever a thread dies of while it acquires: nothing is granted to nobody. */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // a caller that is not granted spins
@Tag("H79")
class DyingCallerTest extends ClientScene {
    private static final String OTHER = "0123456789abcdef0123456789abcdef-lock-0000000000";

    private final InterProcessLock lock = lock("/locks/orders");

    /** What is thrown where no code throws anything. */
    private static final class Death extends Error {
        private static final long serialVersionUID = 1;
    }

    private enum Way {
        ACQUIRE {
            @Override
            void take(InterProcessLock lock) throws InterruptedException {
                lock.acquire();
            }
        },
        TIMED {
            @Override
            void take(InterProcessLock lock) throws InterruptedException {
                lock.tryAcquire(Duration.ofMinutes(1));
            }
        },
        TRY {
            @Override
            void take(InterProcessLock lock) {
                lock.tryAcquire();
            }
        },
        UNINTERRUPTIBLY {
            @Override
            void take(InterProcessLock lock) {
                lock.asLock().lock();
            }
        };

        abstract void take(InterProcessLock lock) throws InterruptedException;
    }

    private void die() {
        scheduler.inTheWait = () -> {};
        throw new Death();
    }

    private void assertNothingLeft() throws InterruptedException {
        scheduler.run();
        assertThat(EngineClient.of(client).requests().open()).isEmpty();
        assertThat(EngineClient.of(client).holds().ofThreads()).isEmpty();
        assertThat(lock.holdCount()).isZero();
        assertThat(operations.nodes()).isEmpty();
        lock.acquire().close();
    }

    @ParameterizedTest
    @EnumSource
    void callerDyingJustAfterTheGrant_givesItBack(Way way) throws InterruptedException {
        scheduler.inTheWait = this::die; // the engine has run until nothing was left to do
        assertThatThrownBy(() -> way.take(lock)).isInstanceOf(Death.class);
        assertThat(operations.requests()).contains(ScriptedOperations.Request.CREATE);
        assertNothingLeft();
    }

    @ParameterizedTest
    @EnumSource(names = {"ACQUIRE", "TIMED", "UNINTERRUPTIBLY"})
    void callerDyingBehindAnother_isNotGrantedLater(Way way) throws InterruptedException {
        operations.add(OTHER);
        scheduler.inTheWait = this::die;
        assertThatThrownBy(() -> way.take(lock)).isInstanceOf(Death.class);
        scheduler.run();
        assertThat(operations.nodes()).containsExactly(OTHER);
        operations.remove(OTHER);
        assertNothingLeft();
    }
}
