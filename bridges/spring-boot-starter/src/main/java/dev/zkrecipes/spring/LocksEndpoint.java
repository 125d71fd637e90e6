// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.spring;

import dev.zkrecipes.core.ClientClosedException;
import dev.zkrecipes.core.ConnectionState;
import dev.zkrecipes.core.ZooKeeperClient;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;

/**
 * The actuator endpoint {@code locks}: the locks that this application holds and waits for. Health shows a part of it.
 * Without the actuator, this is an ordinary bean.
 */
@Endpoint(id = "locks")
record LocksEndpoint(ZooKeeperClient client, LocalLocks locks, LockedCalls calls, ElectionBeans elections) {

    /** The content of the endpoint. The locks that have been held or waited for longest come first. */
    record Shown(
            ConnectionState connection,
            String owner,
            List<LocalLocks.Lock> held,
            List<LocalLocks.Lock> waiting,
            List<String> suspended,
            List<ElectionBeans.Shown> elections) {}

    @ReadOperation
    Shown show() {
        return new Shown(
                client.connectionState(),
                client.ownerLabel(),
                locks.held(),
                locks.waiting(),
                suspended(),
                elections.shown());
    }

    boolean isUp() {
        return client.connectionState() == ConnectionState.CONNECTED;
    }

    Map<String, Object> health() {
        Shown all = show();
        Map<String, Object> details = new LinkedHashMap<>();
        details.put("connection", all.connection);
        details.put("held", all.held.size());
        details.put("suspended", all.suspended);
        details.put("elections", all.elections);
        if (all.connection == ConnectionState.CLOSED) {
            details.put("client", end());
        }
        return details;
    }

    /** Returns why the client is closed. */
    private String end() {
        try {
            var unused = client.awaitConnected(Duration.ZERO);
        } catch (ClientClosedException e) {
            return e.getCause() == null ? "closed" : "ended itself: " + e.getCause();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return "closed";
    }

    /**
     * Returns the paths of suspended locks. Without a connection every lease is SUSPENDED. With a connection, only the
     * leases of annotated methods are known.
     */
    private List<String> suspended() {
        Stream<String> paths =
                isUp() ? calls.suspended() : locks.held().stream().map(LocalLocks.Lock::path);
        return paths.distinct().sorted().toList();
    }
}
