// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/**
 * The address of the servers. A bean of this type replaces the property {@code zkrecipes.connect-string}. Spring Boot
 * creates such a bean for a server that it has started with Testcontainers or Docker Compose.
 */
public interface ZooKeeperConnectionDetails extends ConnectionDetails {

    /** {@return the servers, {@code host:port[,host:port]...[/chroot]}} */
    String getConnectString();
}
