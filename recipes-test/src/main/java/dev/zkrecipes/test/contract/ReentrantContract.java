// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.MultiLease;
import dev.zkrecipes.test.RequestCounts;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A lock that belongs to the thread that holds it: {@link Ownership#REENTRANT_THREAD}. */
abstract class ReentrantContract extends Stage {

    @Test
    void acquireByTheHolder_isGrantedAtOnceAndSendsNothing() throws InterruptedException {
        try (Contenders quiet = Contenders.openQuiet(server, recipe())) {
            Scene own = Scene.of(quiet);
            Lease first = own.lock.acquire();
            RequestCounts before = quiet.proxy.requestsSeen();
            Lease second = own.lock.tryAcquire().orElseThrow();
            Lease third = own.lock.acquire();
            RequestCounts sent = quiet.proxy.requestsSeen().minus(before);
            assertThat(sent.total()).as(sent.toString()).isZero();
            assertThat(own.lock.holdCount()).isEqualTo(3);
            assertThat(MultiLease.tokensOf(second)).isEqualTo(MultiLease.tokensOf(first));
            own.assertHeld();
            second.close();
            third.close();
            first.close();
            own.assertNothingLeft();
        }
    }

    @Test
    @Tag("H99")
    void anotherObjectOfTheLock_reenters() throws InterruptedException {
        try (Contenders quiet = Contenders.openQuiet(server, recipe())) {
            Scene own = Scene.of(quiet);
            InterProcessLock other = own.another();
            Lease first = own.lock.acquire();
            RequestCounts before = quiet.proxy.requestsSeen();
            Lease second = other.tryAcquire().orElseThrow();
            Lease third = own.another().acquire();
            RequestCounts sent = quiet.proxy.requestsSeen().minus(before);
            assertThat(sent.total()).as(sent.toString()).isZero();
            assertThat(MultiLease.tokensOf(second)).isEqualTo(MultiLease.tokensOf(first));
            assertThat(other.holdCount()).isEqualTo(3);
            assertThat(own.lock.holdCount()).isEqualTo(3);
            other.release();
            assertThat(third.state()).as("the youngest").isEqualTo(LeaseState.RELEASED);
            first.close();
            own.assertHeldByThisThread(true);
            assertThat(own.rival.tryAcquire()).isEmpty();
            second.close();
            own.assertNothingLeft();
        }
    }

    @Test
    @Tag("H99")
    void holderOfThePathByAnotherRule_isRefusedAtOnce() throws InterruptedException {
        InterProcessLock other = scene.ofAnotherRule();
        Lease lease = scene.lock.acquire();
        assertRefused(other);
        lease.close();
        Lease otherwise = other.acquire();
        assertRefused(scene.lock);
        otherwise.close();
        scene.lock.acquire().close();
        scene.assertNothingLeft();
    }

    private static void assertRefused(InterProcessLock lock) {
        assertThatThrownBy(lock::acquire).isInstanceOf(LockRefusedException.class);
        assertThatThrownBy(lock::tryAcquire).isInstanceOf(LockRefusedException.class);
        assertThatThrownBy(() -> lock.tryAcquire(Duration.ofSeconds(1))).isInstanceOf(LockRefusedException.class);
    }

    @Test
    void lock_isReleasedWithItsLastHold() throws InterruptedException {
        Lease first = scene.lock.acquire();
        Lease second = scene.lock.acquire();
        first.close();
        scene.assertHeldByThisThread(true);
        assertThat(scene.rival.tryAcquire()).isEmpty();
        second.close();
        scene.assertNothingLeft();
    }

    @Test
    @Tag("H61")
    void lease_isClosedByItsThreadOnly() throws InterruptedException {
        Lease lease = scene.lock.acquire();
        workers.start("another", () -> {
            assertThatThrownBy(lease::close).isInstanceOf(IllegalMonitorStateException.class);
            assertThatThrownBy(scene.lock::release).isInstanceOf(IllegalMonitorStateException.class);
        });
        workers.join(Duration.ofSeconds(20));
        scene.assertAcquired(true);
        lease.close();
        scene.assertNothingLeft();
    }
}
