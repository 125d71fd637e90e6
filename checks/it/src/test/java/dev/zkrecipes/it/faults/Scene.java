// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.faults;

import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * Everything there is to see where threads wait for a lock that does not come: the nodes, who owns and who watches them,
 * the connections, and what all threads do. Such a run may not be seen again for a long time.
 */
final class Scene {
    private final EmbeddedZooKeeper server;
    private final List<ZooKeeperClient> clients;
    private final List<FaultProxy> proxies;

    Scene(EmbeddedZooKeeper server, List<ZooKeeperClient> clients, List<FaultProxy> proxies) {
        this.server = server;
        this.clients = clients;
        this.proxies = proxies;
    }

    /** Adds it to a failure. */
    void explain(AssertionError failure) {
        failure.addSuppressed(new AssertionError(describe()));
    }

    private String describe() {
        StringBuilder text = new StringBuilder("what was seen then\n");
        clients.forEach(client -> text.append(client).append('\n'));
        proxies.forEach(proxy -> text.append(proxy)
                .append(", connections: ")
                .append(proxy.connections())
                .append('\n'));
        text.append("sessions at the server: ").append(hex(server.sessions())).append('\n');
        describeBelow(House.PATH, text);
        Thread.getAllStackTraces()
                .forEach((thread, frames) -> text.append('"')
                        .append(thread.getName())
                        .append("\" ")
                        .append(thread.getState())
                        .append(Arrays.stream(frames)
                                .map(frame -> "\n    at " + frame)
                                .collect(Collectors.joining()))
                        .append('\n'));
        return text.toString();
    }

    private void describeBelow(String path, StringBuilder text) {
        for (String name : server.children(path)) {
            String node = path + "/" + name;
            OptionalLong owner = server.owner(node);
            text.append(node)
                    .append(", owner: ")
                    .append(hex(owner.stream()))
                    .append(", watched by: ")
                    .append(hex(server.watchers(node)))
                    .append(", children watched by: ")
                    .append(hex(server.childWatchers(node)))
                    .append('\n');
            describeBelow(node, text);
        }
    }

    private static String hex(List<Long> sessions) {
        return hex(sessions.stream().mapToLong(id -> id));
    }

    private static String hex(LongStream sessions) {
        return sessions.mapToObj(id -> "0x" + Long.toHexString(id)).collect(Collectors.joining(" "));
    }
}
