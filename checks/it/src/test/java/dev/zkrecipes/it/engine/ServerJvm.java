// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.internal.ChildJvms;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;

/** A server in a JVM of its own, for settings that ZooKeeper keeps for all servers of a JVM. */
final class ServerJvm implements AutoCloseable {
    private final ChildJvms processes = new ChildJvms();
    private final int port;

    /**
     * Starts it and does not wait until it serves.
     *
     * @param properties of the system, such as {@code zookeeper.extendedTypesEnabled=false}
     */
    ServerJvm(String... properties) throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        List<String> arguments = new ArrayList<>(List.of(properties));
        arguments.add(0, String.valueOf(port));
        processes.start(ServerJvm.class, arguments.toArray(String[]::new));
    }

    int port() {
        return port;
    }

    String connectString() {
        return "127.0.0.1:" + port;
    }

    @Override
    public void close() {
        processes.close();
    }

    /** Arguments: the port, and properties of the system. Ends with the process that started it. */
    public static void main(String[] args) throws IOException {
        System.setProperty("org.slf4j.simpleLogger.log.org.apache.zookeeper", "off");
        for (String property : List.of(args).subList(1, args.length)) {
            int equals = property.indexOf('=');
            System.setProperty(property.substring(0, equals), property.substring(equals + 1));
        }
        EmbeddedZooKeeper.builder().port(Integer.parseInt(args[0])).start();
        while (System.in.read() >= 0) {
            // Nothing is written to it.
        }
        Runtime.getRuntime().halt(0);
    }
}
