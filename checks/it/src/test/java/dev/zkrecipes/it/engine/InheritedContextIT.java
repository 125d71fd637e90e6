// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.ZooKeeperClientBuilder;
import dev.zkrecipes.handoff.HandoffMutex;
import dev.zkrecipes.leader.LeaderElection;
import dev.zkrecipes.multilock.InterProcessMultiLock;
import dev.zkrecipes.mutex.InterProcessMutex;
import dev.zkrecipes.rwlock.InterProcessReadWriteLock;
import dev.zkrecipes.semaphore.InterProcessSemaphore;
import dev.zkrecipes.shedlock.ZooKeeperLockProvider;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import net.javacrumbs.shedlock.core.LockConfiguration;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Threads of the library take nothing over from the thread that happens to make the client. */
@Tag("alone")
@Tag("H115")
class InheritedContextIT extends ServerStage {
    private static final Duration LONG = Duration.ofSeconds(120);

    /** An application that is loaded beside others and may be unloaded before the library. */
    private static final class ApplicationLoader extends ClassLoader {
        ApplicationLoader() {
            super(InheritedContextIT.class.getClassLoader());
        }

        @SuppressWarnings("unchecked")
        Function<ZooKeeperClientBuilder, ZooKeeperClient> application() throws Exception {
            String name = Application.class.getName();
            try (InputStream in = Application.class.getResourceAsStream("InheritedContextIT$Application.class")) {
                byte[] code = in.readAllBytes();
                return (Function<ZooKeeperClientBuilder, ZooKeeperClient>)
                        defineClass(name, code, 0, code.length).getConstructor().newInstance();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
    }

    public static final class Application implements Function<ZooKeeperClientBuilder, ZooKeeperClient> {
        private static final InheritableThreadLocal<Object> OWN = new InheritableThreadLocal<>();

        @Override
        public ZooKeeperClient apply(ZooKeeperClientBuilder settings) {
            OWN.set(this);
            try {
                ZooKeeperClient client = settings.build();
                client.awaitConnected(Duration.ofSeconds(120));
                return client;
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            } finally {
                OWN.remove();
            }
        }
    }

    private static ZooKeeper connected(ZooKeeperClient client) {
        return Soon.await().until(client::zooKeeper, Optional::isPresent).orElseThrow();
    }

    @Test
    @Tag("H131")
    void noThreadInherits() throws Exception {
        List<String> heirs = new CopyOnWriteArrayList<>();
        InheritableThreadLocal<String> inheritable = new InheritableThreadLocal<>() {
            @Override
            protected String childValue(String parents) {
                heirs.add(Thread.currentThread() + " makes a thread that inherits");
                return parents;
            }
        };
        Thread self = Thread.currentThread();
        ClassLoader before = self.getContextClassLoader();
        ClassLoader applications = new ApplicationLoader();
        inheritable.set("value");
        self.setContextClassLoader(applications);
        try (ZooKeeperClient client = settings().closeOnShutdown().build();
                ZooKeeperClient supplied = ZooKeeperClient.over(() -> connected(client))) {
            assertThat(supplied.awaitConnected(LONG)).isTrue();
            Lease held = new InterProcessMutex(client, "/inherited").acquire();
            var unused = Soon.get(new InterProcessMutex(client, "/inherited/async").acquireAsync())
                    .closeAsync();
            held.onLost(() -> {});
            expire(client);
            assertThat(Soon.get(held.ended())).isEqualTo(LeaseState.LOST);
            held.close();
            assertThat(client.awaitConnected(LONG)).isTrue();
            useEveryModule(client);
            assertThat(heirs).isEmpty();
            assertThat(Thread.getAllStackTraces().keySet())
                    .filteredOn(thread -> thread.getContextClassLoader() == applications)
                    .containsExactly(self);
        } finally {
            self.setContextClassLoader(before);
            inheritable.remove();
        }
    }

    /** What has times or callbacks of its own. */
    private void useEveryModule(ZooKeeperClient client) throws InterruptedException {
        LockConfiguration job = new LockConfiguration(Instant.now(), "job", LONG, Duration.ofMillis(200));
        new ZooKeeperLockProvider(client, "/inherited/jobs")
                .lock(job)
                .orElseThrow()
                .unlock();
        new InterProcessMutex(client, "/inherited/jobs/job")
                .tryAcquire(LONG)
                .orElseThrow()
                .close();
        try (LeaderElection election = new LeaderElection(client, "/inherited/leader")) {
            election.join();
            assertThat(election.awaitLeadership(LONG)).isPresent();
        }
        List<InterProcessLock> others = List.of(
                new HandoffMutex(client, "/inherited/handoff", 2),
                new InterProcessReadWriteLock(client, "/inherited/rwlock").writeLock(),
                new InterProcessMultiLock(client, List.of("/inherited/one", "/inherited/two")));
        for (InterProcessLock lock : others) {
            lock.tryAcquire(LONG).orElseThrow().close();
            Soon.get(Soon.get(lock.acquireAsync()).closeAsync());
        }
        new InterProcessSemaphore(client, "/inherited/semaphore", 2)
                .tryAcquire(LONG)
                .orElseThrow()
                .close();
        Soon.get(Soon.get(new InterProcessMutex(client, "/inherited/later").acquireAsync())
                .closeAfter(Duration.ofMillis(1)));
    }

    @Test
    void clientThatOutlivesWhoMadeIt_doesNotKeepHisClasses() throws Exception {
        ApplicationLoader applications = new ApplicationLoader();
        Thread self = Thread.currentThread();
        ClassLoader before = self.getContextClassLoader();
        self.setContextClassLoader(applications);
        try (ZooKeeperClient client =
                applications.application().apply(settings().closeOnShutdown())) {
            self.setContextClassLoader(before);
            WeakReference<ClassLoader> unloaded = new WeakReference<>(applications);
            applications = null;
            Soon.await().until(() -> {
                System.gc();
                return unloaded.refersTo(null);
            });
            Soon.await().until(() -> client.connectionState() == ConnectionState.CONNECTED);
        } finally {
            self.setContextClassLoader(before);
        }
    }
}
