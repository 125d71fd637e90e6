// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.shedlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import net.javacrumbs.shedlock.support.LockException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.DefaultLifecycleProcessor;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** A context closes while its job works on, whatever interrupts it: nobody else may run it before it has ended. */
@Timeout(600)
@WithZooKeeper
class ContextEndIT {

    /** It works on until it may end. */
    static final class Work {
        private final CompletableFuture<Void> begun = new CompletableFuture<>();
        private final CompletableFuture<Void> interrupted = new CompletableFuture<>();
        private final CompletableFuture<Void> mayEnd = new CompletableFuture<>();

        void run() {
            begun.complete(null);
            while (!mayEnd.isDone()) {
                if (Thread.interrupted()) {
                    interrupted.complete(null);
                }
                LockSupport.parkNanos(1_000_000);
            }
        }
    }

    @Configuration
    @EnableScheduling
    @EnableSchedulerLock(defaultLockAtMostFor = "PT1H")
    static class Application {
        @Autowired
        private Work work;

        @Bean
        LockProvider lockProvider(ZooKeeperClient client) {
            return new ZooKeeperLockProvider(client, "/jobs");
        }

        /** As Spring Boot has it; a shutdown phase is shorter than the job. */
        @Bean
        ThreadPoolTaskScheduler taskScheduler() {
            return new ThreadPoolTaskScheduler();
        }

        @Bean
        DefaultLifecycleProcessor lifecycleProcessor() {
            DefaultLifecycleProcessor phases = new DefaultLifecycleProcessor();
            phases.setTimeoutPerShutdownPhase(1);
            return phases;
        }

        @Scheduled(fixedDelay = 50)
        @SchedulerLock(name = "report", lockAtLeastFor = "PT30M")
        void report() {
            work.run();
        }
    }

    @Test
    void jobThatIgnoresItsInterrupt_keepsItsLock_andTheContextWaits(EmbeddedZooKeeper server) {
        Work work = new Work();
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        try {
            context.registerBean(
                    ZooKeeperClient.class,
                    () -> ZooKeeperClient.builder()
                            .connectString(server.connectString())
                            .sessionTimeout(TestClients.LONG_SESSION)
                            .closeTimeout(Duration.ofMinutes(10))
                            .build());
            context.registerBean(Work.class, () -> work);
            context.register(Application.class);
            context.refresh();
            Soon.get(work.begun);
            LockProvider provider = context.getBean(LockProvider.class);
            CompletableFuture<Void> closed = CompletableFuture.runAsync(context::close);
            Soon.get(work.interrupted);
            Soon.await().until(() -> isRefused(provider));
            assertThat(server.children("/jobs/report")).hasSize(1);
            assertThat(closed).isNotDone();
            work.mayEnd.complete(null);
            Soon.get(closed);
            assertThat(server.children("/jobs/report")).isEmpty();
        } finally {
            work.mayEnd.complete(null); // or the context would wait for it
            context.close();
        }
    }

    /** The client closes, and still waits for the job. */
    private static boolean isRefused(LockProvider provider) {
        try {
            LockConfiguration another =
                    new LockConfiguration(Instant.now(), "another", Duration.ofMinutes(1), Duration.ZERO);
            provider.lock(another).ifPresent(SimpleLock::unlock);
            return false;
        } catch (LockException e) {
            assertThat(e).hasCauseInstanceOf(ClientClosedException.class);
            return true;
        }
    }
}
