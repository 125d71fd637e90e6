// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.shedlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** A context closes while its job works on, whatever interrupts it: nobody else may run it before it has ended. */
@Timeout(60)
@WithZooKeeper
class ContextEndIT {

    @Configuration
    @EnableScheduling
    @EnableSchedulerLock(defaultLockAtMostFor = "PT1H")
    static class Application {
        private final CompletableFuture<Void> begun = new CompletableFuture<>();
        private final CompletableFuture<Void> interrupted = new CompletableFuture<>();
        private final CompletableFuture<Void> mayEnd = new CompletableFuture<>();

        @Bean
        LockProvider lockProvider(ZooKeeperClient client) {
            return new ZooKeeperLockProvider(client, "/jobs");
        }

        @Scheduled(fixedDelay = 50)
        @SchedulerLock(name = "report")
        void report() {
            begun.complete(null);
            while (!mayEnd.isDone()) {
                if (Thread.interrupted()) {
                    interrupted.complete(null);
                }
                Thread.onSpinWait();
                Thread.yield();
            }
        }
    }

    @Test
    void jobThatIgnoresItsInterrupt_keepsItsLock_andTheContextWaits(EmbeddedZooKeeper server) {
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.registerBean(
                ZooKeeperClient.class,
                () -> ZooKeeperClient.builder()
                        .connectString(server.connectString())
                        .sessionTimeout(TestClients.LONG_SESSION)
                        .closeTimeout(Duration.ofMinutes(10))
                        .build());
        context.register(Application.class);
        context.refresh();
        Application application = context.getBean(Application.class);
        Soon.get(application.begun);
        CompletableFuture<Void> closed = CompletableFuture.runAsync(context::close);
        Soon.get(application.interrupted);
        Soon.await().until(() -> !context.getBeanFactory().containsSingleton("lockProvider"));
        assertThat(server.children("/jobs/report")).hasSize(1);
        assertThat(closed).isNotDone();
        application.mayEnd.complete(null);
        Soon.get(closed);
        assertThat(server.children("/jobs/report")).isEmpty();
    }
}
