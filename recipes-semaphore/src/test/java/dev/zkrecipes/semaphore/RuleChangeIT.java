// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.semaphore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.test.internal.ServerStage;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What an author of a recipe with a shared rule may rely on when changing it. */
class RuleChangeIT extends ServerStage {
    private ZooKeeperClient client;
    private LockInternals internals;

    @BeforeEach
    void connect() throws InterruptedException {
        client = client();
        SemaphoreDriver driver = new SemaphoreDriver(path, SemaphoreLimit.of(4), 1);
        internals = new LockInternals(client, path, driver, LockOptions.defaults());
    }

    static Stream<Throwable> failures() {
        return Stream.of(
                new IllegalArgumentException("mine"), new LockRefusedException("mine"), new AssertionError("mine"));
    }

    private static byte[] raise(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        throw (RuntimeException) failure;
    }

    @ParameterizedTest
    @MethodSource("failures")
    void failingChange_isThrownToItsCaller_andChangesNothing(Throwable failure) throws Exception {
        assertThatThrownBy(() -> internals.changeRule(rule -> raise(failure))).isSameAs(failure);
        assertThat(server.nodeExists(path)).isFalse();
        Lease lease = internals.unowned().acquire();
        byte[] before = server.data(path).orElseThrow();
        assertThatThrownBy(() -> internals.changeRule(rule -> raise(failure))).isSameAs(failure);
        assertThat(server.data(path)).get().isEqualTo(before);
        lease.close();
    }

    @Test
    void conflictingChange_isRepeatedOnTheNewValue() throws Exception {
        internals.unowned().acquire().close();
        AtomicInteger calls = new AtomicInteger();
        internals.changeRule(rule -> {
            if (calls.incrementAndGet() == 1) {
                server.setData(path, SemaphoreLimit.of(4).resized(8).encode());
            }
            SemaphoreLimit found = SemaphoreLimit.decode(path, rule.orElseThrow());
            return found.resized(found.current() + 1).encode();
        });
        assertThat(calls).hasValue(2);
        assertThat(SemaphoreLimit.decode(path, server.data(path).orElseThrow()).current())
                .isEqualTo(9);
    }

    @Test
    void changeOfAVanishedPath_recreatesIt() throws Exception {
        internals.unowned().acquire().close();
        AtomicInteger calls = new AtomicInteger();
        internals.changeRule(rule -> {
            if (calls.incrementAndGet() == 1) {
                server.deleteNode(path);
            } else if (calls.get() == 2) {
                assertThat(rule).isEqualTo(Optional.empty());
            }
            return SemaphoreLimit.of(4).resized(7).encode();
        });
        assertThat(internals.snapshot().rule())
                .get()
                .isEqualTo(SemaphoreLimit.of(4).resized(7).encode());
    }
}
