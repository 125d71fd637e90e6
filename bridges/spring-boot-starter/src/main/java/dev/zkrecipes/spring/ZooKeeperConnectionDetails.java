// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import org.springframework.boot.autoconfigure.service.connection.ConnectionDetails;

/**
 * Where the servers are. A bean of this type takes the place of the property {@code zkrecipes.connect-string};
 * Testcontainers and Docker Compose bring one, as Spring Boot does for other services.
 */
public interface ZooKeeperConnectionDetails extends ConnectionDetails {

    /** {@return the servers, {@code host:port[,host:port]...[/chroot]}} */
    String getConnectString();
}
