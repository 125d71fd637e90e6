// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockLostException;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.test.RequestCounts;
import dev.zkrecipes.test.internal.Soon;
import dev.zkrecipes.test.internal.TimedTry;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The downgrade of a lock with two modes: a writer becomes a reader at once and in its place, and a reader never
 * becomes a writer.
 */
abstract class DowngradeContract extends TwoReadWriteLocks {
    @Test
    @Tag("H04")
    void downgrade_keepsPlaceAndToken_aheadOfQueuedWriters() throws InterruptedException {
        Lease writing = own.write().acquire();
        CompletableFuture<Lease> queuedWriter = others.write().acquireAsync();
        awaitNodes(2);
        CompletableFuture<Lease> queuedReader = others.read().acquireAsync();
        awaitNodes(3);
        Lease reading = granted(own.read().tryAcquire(Duration.ofSeconds(20)), "the downgrade");
        assertThat(reading.fencingToken()).isEqualTo(writing.fencingToken());
        writing.close();
        Soon.await().until(reading::isValid);
        reading.verify();
        assertThat(own.write().isHeldByCurrentThread())
                .as("holds to write, after the downgrade")
                .isFalse();
        assertThat(own.read().isHeldByCurrentThread())
                .as("holds to read, after the downgrade")
                .isTrue();
        assertThat(TimedTry.on(others.write())).isEmpty();
        assertThat(queuedWriter).isNotDone();
        assertThat(queuedReader).isNotDone();
        long token = reading.fencingToken();
        reading.close();
        Lease next = Soon.get(queuedWriter);
        assertThat(next.fencingToken()).isGreaterThan(token);
        next.close();
        Soon.get(queuedReader).close();
        awaitNodes(0);
    }

    @Test
    @Tag("H31")
    void upgrade_isRefusedAtOnce_andSendsNothing() throws InterruptedException {
        Lease reading = own.read().acquire();
        RequestCounts before = server.requests();
        InterProcessLock write = own.write();
        assertThatThrownBy(write::acquire)
                .isInstanceOf(LockRefusedException.class)
                .hasMessageContaining(path);
        assertThatThrownBy(write::tryAcquire).isInstanceOf(LockRefusedException.class);
        assertThatThrownBy(() -> write.tryAcquire(Duration.ofSeconds(5))).isInstanceOf(LockRefusedException.class);
        assertThatThrownBy(write.asLock()::lock).isInstanceOf(LockRefusedException.class);
        assertThat(server.requests().minus(before).total()).isZero();
        Soon.await().until(reading::isValid);
        reading.close();
        write.acquire().close();
    }

    @Test
    @Tag("H03")
    void readerOnADeadWriteHold_isNotLetIn() throws InterruptedException {
        Lease writing = own.write().acquire();
        expireClient();
        Lease live =
                granted(others.write().tryAcquire(Duration.ofSeconds(20)), "a lock whose holder's session has ended");
        assertThatThrownBy(own.read()::acquire).isInstanceOf(LockLostException.class);
        assertThat(writing.state()).isEqualTo(LeaseState.LOST);
        awaitNodes(1);
        live.verify();
        writing.close();
        live.close();
        own.read().acquire().close();
    }
}
