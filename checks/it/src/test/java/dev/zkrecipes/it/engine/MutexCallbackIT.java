// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.MutexDriver;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.test.internal.ServerStage;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Exceptions of drivers and listeners are reported, leave nothing behind, and affect no one else. */
class MutexCallbackIT extends ServerStage {
    private ZooKeeperClient client;

    @BeforeEach
    void connect() throws Exception {
        client = client();
        new InterProcessMutex(client, path).acquire().close();
    }

    @Test
    @Tag("H45")
    void nodeName_isReadOnlyWhenTheLockIsCreated() throws Exception {
        IllegalStateException broken = new IllegalStateException("broken");
        AtomicReference<RuntimeException> failure = new AtomicReference<>();
        MutexDriver good = new MutexDriver();
        LockDriver driver = new LockDriver() {
            @Override
            public String nodeName() {
                if (failure.get() != null) {
                    throw failure.get();
                }
                return good.nodeName();
            }

            @Override
            public Optional<LockNode> parse(String childName) {
                return good.parse(childName);
            }

            @Override
            public Decision decide(List<LockNode> predecessors, LockNode self) {
                return good.decide(predecessors, self);
            }
        };
        InterProcessLock lock = new LockInternals(client, path, driver, LockOptions.defaults()).threadOwned();
        failure.set(broken);
        lock.tryAcquire().orElseThrow().close();
        lock.tryAcquire(Duration.ofSeconds(120)).orElseThrow().close();
        assertThatThrownBy(() -> new LockInternals(client, path, driver, LockOptions.defaults()).threadOwned())
                .isSameAs(broken);
    }

    @Test
    @Tag("H45")
    void throwingListener_doesNotStopTheOthers() throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        Lease lease = mutex.acquire();
        AtomicInteger told = new AtomicInteger();
        CompletableFuture<Lease> next = mutex.acquireAsync();
        awaitNodes(2);
        List<CompletableFuture<?>> dependents = new ArrayList<>();
        for (Throwable failure : List.of(new IllegalStateException("broken"), new StackOverflowError())) {
            client.addConnectionListener(state -> sneak(failure));
            lease.onLost(() -> sneak(failure));
            dependents.add(lease.ended().thenRun(() -> sneak(failure)).toCompletableFuture());
            dependents.add(next.whenComplete((granted, refused) -> sneak(failure)));
        }
        client.addConnectionListener(state -> told.incrementAndGet());
        lease.onLost(told::incrementAndGet);

        expire(client);
        Lease granted = next.get(120, TimeUnit.SECONDS);
        // Of the lease once; of the connection: suspended, expired, connected.
        await().until(() -> told.get() >= 3);
        await().until(() -> dependents.stream().allMatch(CompletableFuture::isCompletedExceptionally));
        lease.close();
        granted.verify();
        granted.close();
        assertThat(server.children(path)).isEmpty();
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable failure) throws T {
        throw (T) failure;
    }
}
