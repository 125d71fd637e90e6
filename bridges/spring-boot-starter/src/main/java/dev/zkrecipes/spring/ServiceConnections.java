// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import org.springframework.boot.docker.compose.core.RunningService;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionDetailsFactory;
import org.springframework.boot.docker.compose.service.connection.DockerComposeConnectionSource;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionDetailsFactory;
import org.springframework.boot.testcontainers.service.connection.ContainerConnectionSource;
import org.testcontainers.containers.Container;

/** Finds servers that Spring Boot has started in containers. Boot loads only the factory whose library is present. */
final class ServiceConnections {
    private static final String IMAGE = "zookeeper";
    private static final int PORT = 2181;

    private ServiceConnections() {}

    /** Finds services of Docker Compose. */
    static final class ComposeFactory extends DockerComposeConnectionDetailsFactory<ZooKeeperConnectionDetails> {
        ComposeFactory() {
            super(IMAGE);
        }

        @Override
        protected ZooKeeperConnectionDetails getDockerComposeConnectionDetails(DockerComposeConnectionSource source) {
            RunningService server = source.getRunningService();
            return () -> server.host() + ":" + server.ports().get(PORT);
        }
    }

    /** Finds containers of Testcontainers that have a {@code @ServiceConnection}. */
    static final class ContainerFactory
            extends ContainerConnectionDetailsFactory<Container<?>, ZooKeeperConnectionDetails> {
        ContainerFactory() {
            super(IMAGE);
        }

        @Override
        protected ZooKeeperConnectionDetails getContainerConnectionDetails(
                ContainerConnectionSource<Container<?>> source) {
            return new Details(source);
        }

        private static final class Details extends ContainerConnectionDetails<Container<?>>
                implements ZooKeeperConnectionDetails {
            Details(ContainerConnectionSource<Container<?>> source) {
                super(source);
            }

            @Override
            public String getConnectString() {
                return getContainer().getHost() + ":" + getContainer().getMappedPort(PORT);
            }
        }
    }
}
