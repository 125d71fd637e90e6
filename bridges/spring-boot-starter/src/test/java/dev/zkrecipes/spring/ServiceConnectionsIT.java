// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.mockito.Mockito;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;
import org.springframework.boot.autoconfigure.service.connection.ConnectionDetailsFactories;
import org.springframework.boot.docker.compose.core.ConnectionPorts;
import org.springframework.boot.docker.compose.core.ImageReference;
import org.springframework.boot.docker.compose.core.RunningService;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionSource;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.context.ApplicationContext;
import org.springframework.test.annotation.DirtiesContext.HierarchyMode;
import org.springframework.test.context.TestContextManager;
import org.testcontainers.containers.Container;

/** What Spring Boot makes of containers, which nobody has started here: they say where the test's server is. */
@WithZooKeeper
@Timeout(600)
class ServiceConnectionsIT {
    private final EmbeddedZooKeeper server;

    ServiceConnectionsIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Shop {}

    @SpringBootTest(
            classes = Shop.class,
            webEnvironment = SpringBootTest.WebEnvironment.NONE,
            properties = "zkrecipes.connect-string=127.0.0.1:1")
    static class ShopTest {
        @ServiceConnection
        static final Container<?> SERVER = Mockito.mock();
    }

    @Test
    void container_takesThePlaceOfTheProperty() throws Exception {
        Mockito.when(ShopTest.SERVER.getDockerImageName()).thenReturn("zookeeper:3.9");
        Mockito.when(ShopTest.SERVER.getHost()).thenReturn("127.0.0.1");
        Mockito.when(ShopTest.SERVER.getMappedPort(2181)).thenReturn(server.port());
        var test = new TestContextManager(ShopTest.class).getTestContext();
        ApplicationContext context = test.getApplicationContext();
        try {
            assertThat(context.getBean(ZooKeeperConnectionDetails.class).getConnectString())
                    .isEqualTo(server.connectString());
            assertThat(context.getBean(ZooKeeperClient.class).awaitConnected(ApplicationStage.LIMIT))
                    .isTrue();
        } finally {
            test.markApplicationContextDirty(HierarchyMode.EXHAUSTIVE);
        }
    }

    private static Map<Class<?>, ConnectionDetails> ofCompose(String image, Map<String, String> labels) {
        ConnectionPorts ports = Mockito.mock();
        Mockito.when(ports.get(2181)).thenReturn(32_181);
        RunningService service = Mockito.mock();
        Mockito.when(service.image()).thenReturn(ImageReference.of(image));
        Mockito.when(service.labels()).thenReturn(labels);
        Mockito.when(service.host()).thenReturn("docker.example");
        Mockito.when(service.ports()).thenReturn(ports);
        DockerComposeConnectionSource source = Mockito.mock();
        Mockito.when(source.getRunningService()).thenReturn(service);
        return new ConnectionDetailsFactories(ServiceConnectionsIT.class.getClassLoader())
                .getConnectionDetails(source, false);
    }

    @Test
    void composeService_isFound_byItsImageOrItsLabel() {
        Map<String, String> label = Map.of("org.springframework.boot.service-connection", "zookeeper");
        assertThat(ofCompose("zookeeper:3.9", Map.of()))
                .hasSize(1)
                .extractingByKey(ZooKeeperConnectionDetails.class)
                .extracting(found -> ((ZooKeeperConnectionDetails) found).getConnectString())
                .isEqualTo("docker.example:32181");
        assertThat(ofCompose("registry.example/our/coordination:7", label))
                .containsOnlyKeys(ZooKeeperConnectionDetails.class);
        assertThat(ofCompose("registry.example/our/coordination:7", Map.of())).isEmpty();
    }
}
