// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockObserver;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.Revoker;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.LockGroups;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.handoff.HandoffMutex;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.TimedTry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What an observer is told of each way in which a request and a hold end. */
class LockObserverIT extends ServerStage {
    private final Heard heard = new Heard();
    private ZooKeeperClient client;
    private ZooKeeperClient other;

    @BeforeEach
    void connect() throws Exception {
        client = client(settings().sessionTimeout(Duration.ofSeconds(20)).observer(heard));
        other = client();
    }

    @AfterEach
    void close() {
        client.close();
        other.close();
        assertThat(heard.threads).noneMatch(thread -> thread.startsWith("zkrecipes-engine")); // it may block
    }

    private InterProcessLock lock() {
        return new InterProcessMutex(client, path, LockOptions.defaults().withName("orders"));
    }

    @Test
    void singleHold_isGrantedAndReleasedOnTheCallersThread_withoutAnEventForReentry() throws Exception {
        InterProcessLock lock = lock();
        Lease lease = lock.acquire();
        lock.acquire().close();
        assertThat(heard.words).containsExactly("waiting", "granted");
        lease.close();
        lease.close();
        assertThat(heard.words).containsExactly("waiting", "granted", "released");
        assertThat(heard.requests).containsExactly(new LockObserver.Request(path, Optional.of("orders"), "lock-"));
        assertThat(heard.threads).containsOnly(Thread.currentThread().getName());
    }

    @Test
    void ungrantedRequest_isReportedWithItsEnding() throws Exception {
        Lease held = new InterProcessMutex(other, path).acquire();
        assertThat(lock().tryAcquire()).isEmpty();
        assertThat(heard.words).containsExactly("waiting", "BUSY");
        Optional<Lease> timed = TimedTry.of(limit -> {
            heard.words.clear();
            return lock().tryAcquire(limit);
        });
        assertThat(timed).isEmpty();
        Thread.currentThread().interrupt();
        assertThatThrownBy(lock()::acquire).isInstanceOf(InterruptedException.class); // before it asks
        assertThat(heard.words).containsExactly("waiting", "TIMED_OUT");

        awaitOnlyTheHolder();
        Thread waiter = new Thread(() -> assertThatThrownBy(lock()::acquire).isInstanceOf(InterruptedException.class));
        waiter.start();
        awaitNodes(2);
        waiter.interrupt();
        waiter.join();
        assertThat(heard.words).endsWith("waiting", "INTERRUPTED");

        awaitOnlyTheHolder();
        CompletableFuture<Lease> cancelled = lock().acquireAsync();
        awaitNodes(2);
        cancelled.cancel(true);
        await().untilAsserted(() -> assertThat(heard.words).endsWith("waiting", "CANCELLED"));

        awaitOnlyTheHolder();
        CompletableFuture<Lease> failed = lock().acquireAsync();
        awaitNodes(2);
        client.close();
        assertThatThrownBy(() -> failed.get(120, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(LockException.class);
        await().untilAsserted(() -> assertThat(heard.words).endsWith("waiting", "FAILED"));
        held.close();
    }

    /** Until the request before has left, whose node would be taken for that of the next one. */
    private void awaitOnlyTheHolder() {
        awaitNodes(1);
    }

    @Test
    void lostLock_isReportedOnce_andNotAsReleased() throws Exception {
        Lease lease = lock().acquire();
        expire(client);
        await().untilAsserted(() -> assertThat(heard.words).hasSize(3));
        assertThat(heard.words.get(2))
                .startsWith("lost: the ZooKeeper session ")
                .endsWith(" has ended (EXPIRED)");
        assertThat(heard.threads.get(2)).startsWith("zkrecipes-loss-");
        lease.close();
        lock().acquire().close();
        assertThat(heard.words).hasSize(6).endsWith("waiting", "granted", "released");
    }

    @Test
    void asynchronousRequest_isReportedOnCallbackThreads_beforeTheApplicationHears() throws Exception {
        List<String> before = lock().acquireAsync()
                .thenApply(lease -> {
                    List<String> known = List.copyOf(heard.words);
                    lease.closeAsync().join();
                    return known;
                })
                .get(120, TimeUnit.SECONDS);
        assertThat(before).containsExactly("waiting", "granted");
        assertThat(heard.words).containsExactly("waiting", "granted", "released");
        assertThat(heard.threads.get(1)).startsWith("zkrecipes-callback-");
    }

    private List<InterProcessLock> members() {
        return List.of("/x", "/y").stream()
                .<InterProcessLock>map(name ->
                        new LockInternals(client, path + name, new MutexDriver(), LockOptions.defaults()).threadOwned())
                .toList();
    }

    @Test
    void multiLock_isOneRequest() throws Exception {
        List<InterProcessLock> members = members();
        InterProcessLock all =
                LockGroups.together(members, LockOptions.defaults().withName("both"));
        Lease lease = all.acquire();
        Lease member = members.get(0).acquire(); // stands on the same node
        lease.close();
        assertThat(heard.words).containsExactly("waiting", "granted");
        member.close();
        assertThat(heard.words).containsExactly("waiting", "granted", "released");
        assertThat(heard.requests)
                .containsExactly(new LockObserver.Request(path + "/x," + path + "/y", Optional.of("both"), "lock-"));
    }

    @Test
    void lossOfSeveralLocksAsOne_isToldOnce() throws Exception {
        Lease lease = LockGroups.together(members(), LockOptions.defaults()).acquire();
        expire(client);
        await().untilAsserted(() -> assertThat(heard.words).hasSize(3));
        lease.close();
        lock().acquire().close();
        assertThat(heard.words)
                .hasSize(6)
                .filteredOn(word -> word.startsWith("lost: "))
                .hasSize(1);
    }

    @Test
    void holdersSharingANode_areSeparateRequests() throws Exception {
        InterProcessLock lock = new HandoffMutex(client, path, 5);
        Lease first = lock.acquire();
        CompletableFuture<Lease> second = lock.acquireAsync();
        await().until(() -> heard.words.size() == 3);
        first.close();
        Lease passed = second.get(120, TimeUnit.SECONDS);
        passed.closeAsync().get(120, TimeUnit.SECONDS);
        assertThat(heard.words)
                .containsExactlyInAnyOrder("waiting", "granted", "waiting", "released", "granted", "released");
    }

    @Test
    void throwingObserver_hurtsNobody() throws Exception {
        LockObserver atOnce = request -> {
            throw new IllegalStateException("an observer that fails");
        };
        LockObserver later = request -> new LockObserver.Progress() {
            @Override
            public void onGranted(Duration waited) {
                throw new StackOverflowError("an observer that fails");
            }

            @Override
            public void onReleased(Duration held) {
                throw new IllegalStateException("an observer that fails");
            }
        };
        ZooKeeperClient observed =
                client(settings().observer(atOnce).observer(later).observer(heard));
        new InterProcessMutex(observed, path).acquire().close();
        assertThat(heard.words).containsExactly("waiting", "granted", "released");
        assertThat(server.children(path)).isEmpty();
    }

    @Test
    void revocation_isReportedIfTheHoldListens() throws Exception {
        Lease lease = lock().acquire();
        CompletableFuture<Void> told = new CompletableFuture<>();
        lease.onRevocationRequested(request -> told.complete(null));
        lease.onRevocationRequested(request -> {});
        var unused = new Revoker(other).request(new InterProcessMutex(other, path));
        told.get(120, TimeUnit.SECONDS);
        await().untilAsserted(() -> assertThat(heard.words).containsExactly("waiting", "granted", "asked"));
        lease.close();
    }
}
