// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.MapPropertySource;

/** An application with the starter, and another client beside it, on a server. Its end waits for what is at work. */
@WithZooKeeper
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class ApplicationStage {
    static final Duration LIMIT = Duration.ofSeconds(120);

    final EmbeddedZooKeeper server;
    AnnotationConfigApplicationContext context;
    ZooKeeperClient other;

    ApplicationStage(EmbeddedZooKeeper server) {
        this.server = server;
    }

    /** Starts the application, which may have the server as a bean. */
    final void start(Class<?> application, Map<String, Object> properties) throws InterruptedException {
        context = new AnnotationConfigApplicationContext();
        var sources = context.getEnvironment().getPropertySources();
        sources.addFirst(new MapPropertySource("test", properties));
        sources.addLast(new MapPropertySource(
                "stage", Map.of("zkrecipes.connect-string", server.connectString(), "zkrecipes.close-timeout", "1h")));
        context.registerBean(EmbeddedZooKeeper.class, () -> server, definition -> definition.setDestroyMethodName(""));
        context.register(application);
        context.refresh();
        other = TestClients.connect(server.connectString());
    }

    @AfterEach
    final void closeContextAndClient() {
        context.close();
        other.close();
    }
}
