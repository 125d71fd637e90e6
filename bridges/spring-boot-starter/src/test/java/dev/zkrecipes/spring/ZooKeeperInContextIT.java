// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.ZooKeeperInContext;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;
import org.springframework.test.annotation.DirtiesContext.HierarchyMode;
import org.springframework.test.context.TestContextManager;

/** A test of an application, as Spring runs it. */
class ZooKeeperInContextIT {

    @SpringBootTest(classes = Shop.class, webEnvironment = SpringBootTest.WebEnvironment.NONE)
    @ZooKeeperInContext
    static class ShopTest {}

    static class AnotherTest extends ShopTest {}

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Shop implements DisposableBean {
        private final ZooKeeperClient client;
        private ConnectionState atTheEnd = ConnectionState.CONNECTING;

        Shop(ZooKeeperClient client) {
            this.client = client;
        }

        @Override
        public void destroy() {
            atTheEnd = client.connectionState();
        }
    }

    private static ApplicationContext contextOf(Class<?> test) {
        return new TestContextManager(test).getTestContext().getApplicationContext();
    }

    @Test
    void contextHasAServer_untilItsBeansAreGone_andTestsShareIt() throws Exception {
        ApplicationContext context = contextOf(ShopTest.class);
        assertThat(contextOf(AnotherTest.class)).isSameAs(context);
        EmbeddedZooKeeper server = context.getBean(EmbeddedZooKeeper.class);
        Shop shop = context.getBean(Shop.class);
        assertThat(shop.client.awaitConnected(Duration.ofSeconds(120))).isTrue();
        assertThat(context.getEnvironment().getProperty("zkrecipes.connect-string"))
                .isEqualTo(server.connectString());
        new TestContextManager(ShopTest.class).getTestContext().markApplicationContextDirty(HierarchyMode.EXHAUSTIVE);
        assertThat(shop.atTheEnd).isEqualTo(ConnectionState.CONNECTED);
        assertThat(shop.client.connectionState()).isEqualTo(ConnectionState.CLOSED);
        assertThat(server.isRunning()).isFalse();
    }
}
