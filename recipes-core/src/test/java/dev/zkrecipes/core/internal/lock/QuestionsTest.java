// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.COLLECTION;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Participant;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.internal.ClientScene;
import dev.zkrecipes.core.internal.acquire.Requests;
import dev.zkrecipes.core.internal.client.EngineClient;
import dev.zkrecipes.core.spi.LockInternals;
import java.util.concurrent.CompletableFuture;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Threads that wait for an answer, and a client that is closed meanwhile or just before: they wait no longer. */
@Tag("H127")
class QuestionsTest extends ClientScene {
    private final LockInternals internals = internals("/locks/orders", LockOptions.defaults());
    private final InterProcessLock lock = internals.threadOwned();
    private final Requests requests = EngineClient.of(client).requests();
    private Lease lease;
    private long begun;

    @BeforeEach
    void holdTheLock() throws InterruptedException {
        lease = lock.acquire();
        begun = scheduler.nanoTime();
    }

    @AfterEach
    void nothingWaitedForTimeToPass_norIsLeft() {
        assertThat(requests).extracting("questions", COLLECTION).isEmpty();
        assertThat(scheduler.nanoTime()).isEqualTo(begun);
    }

    private void assertEndsWithTheClient(ThrowingCallable question) {
        operations.fallSilent();
        scheduler.inTheWait = this::close;
        assertThatThrownBy(question).isInstanceOf(ClientClosedException.class);
    }

    private void close() {
        scheduler.inTheWait = () -> {};
        scheduler.uponRandom = () -> {};
        client.close();
    }

    @Test
    void participants_endWithTheClient() {
        assertEndsWithTheClient(lock::participants);
    }

    @Test
    void snapshot_endsWithTheClient() {
        assertEndsWithTheClient(internals::snapshot);
    }

    @Test
    void changeOfTheRule_endsWithTheClient() {
        assertEndsWithTheClient(() -> internals.changeRule(rule -> new byte[1]));
    }

    @Test
    void verify_endsWithTheClient() {
        assertEndsWithTheClient(lease::verify);
    }

    @Test
    void revocation_endsWithTheClient() {
        assertEndsWithTheClient(() -> new Revoker(client).request(lock));
    }

    /** It looked whether the client is open, and then its thread stood still. */
    @Test
    void revocationGivenToAnEngineThatHasEnded_fails() throws InterruptedException {
        Participant holder = lock.participants().get(0);
        scheduler.uponRandom = this::close; // for its id
        assertThatThrownBy(() -> new Revoker(client).request(holder)).isInstanceOf(ClientClosedException.class);
    }

    @Test
    void questionGivenToAnEngineThatHasEnded_fails() {
        close();
        CompletableFuture<Object> question = new CompletableFuture<>();
        requests.ask("/locks/orders", question);
        assertThat(question).isCompletedExceptionally();
    }

    @Test
    void answeredQuestion_isForgotten() throws InterruptedException {
        assertThat(lock.participants()).hasSize(1);
        lease.verify();
    }
}
