// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.core.spi.port.Ports;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What is asked of a long lease again and again leaves nothing in it. */
@Tag("H95")
class LeaseFuturesTest {
    private static final int CALLS = 10_000;

    private final ManualScheduler scheduler = new ManualScheduler();
    private final ScriptedOperations operations = new ScriptedOperations(scheduler);
    private int callbacks;
    private final ZooKeeperClient client = Ports.clientBuilder(states -> operations, scheduler)
            .callbackExecutor(task -> {
                callbacks++;
                task.run();
            })
            .build();
    private Lease lease;

    @BeforeEach
    void acquire() {
        scheduler.run();
        CompletableFuture<Lease> wanted = new LockInternals(
                        client, "/locks/long", new MutexDriver(), LockOptions.defaults())
                .threadOwned()
                .acquireAsync();
        scheduler.run();
        lease = wanted.join();
    }

    private static List<WeakReference<Object>> asked(Supplier<CompletionStage<?>> question) {
        List<WeakReference<Object>> answers = new ArrayList<>();
        for (int i = 0; i < CALLS; i++) {
            answers.add(new WeakReference<>(question.get()));
        }
        return answers;
    }

    private static void assertForgotten(List<WeakReference<Object>> answers) {
        Object kept = answers.get(0).get(); // may be the one for all
        Awaitility.await().atMost(Duration.ofSeconds(120)).until(() -> {
            System.gc();
            return answers.stream().allMatch(answer -> answer.refersTo(null) || answer.refersTo(kept));
        });
    }

    @Test
    void ended_leavesNothing_howeverOftenItIsAsked() {
        assertForgotten(asked(lease::ended));
        assertThat(lease.ended()).isNotDone();
    }

    @Test
    void ended_isToldOnce_howeverOftenItWasAsked() {
        asked(lease::ended);
        callbacks = 0;
        var unused = lease.closeAsync();
        scheduler.run();
        assertThat(lease.ended()).isCompletedWithValue(LeaseState.RELEASED);
        assertThat(callbacks).as("of ended and of closeAsync").isEqualTo(2);
    }

    @Test
    void ended_keepsNothingOfFinishedWatchers() {
        assertForgotten(asked(() -> {
            CompletableFuture<LeaseState> job = new CompletableFuture<>();
            CompletionStage<LeaseState> either = lease.ended().applyToEither(job, Function.identity());
            job.complete(LeaseState.HELD);
            return either;
        }));
    }

    @Test
    void closeAsync_leavesNothing_onceTheNodeIsGone() {
        operations.refuse(Request.DELETE, Code.CONNECTIONLOSS, Code.CONNECTIONLOSS, Code.CONNECTIONLOSS);
        List<WeakReference<Object>> answers = asked(lease::closeAsync);
        scheduler.advance(operations.sessionTimeout());
        assertThat(operations.nodes()).isEmpty();
        assertForgotten(answers);
    }

    @Test
    void nobodyEndsTheFutureOfAnother() {
        assertThat((Object) lease.ended()).isSameAs(lease.ended());
        assertThat(lease.ended().toCompletableFuture().complete(LeaseState.LOST))
                .isTrue();
        assertThat(lease.ended()).isNotDone();

        operations.refuse(Request.DELETE, Code.CONNECTIONLOSS);
        assertThat(lease.closeAsync().cancel(false)).isTrue();
        CompletableFuture<Void> closed = lease.closeAsync();
        assertThat(closed).isNotDone();
        scheduler.advance(operations.sessionTimeout());
        assertThat(closed).isCompleted();
        assertThat(lease.ended()).isCompletedWithValue(LeaseState.RELEASED);
    }
}
