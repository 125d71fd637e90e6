// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.versions;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.apache.zookeeper.server.ServerCnxnFactory;
import org.apache.zookeeper.server.ZooKeeperServer;

/**
 * A server of the version that is on the class path; it uses what all versions have. Prints its port, and ends when its
 * standard input does.
 */
final class ServerOfItsOwnJars {
    static final String READY = "port=";
    private static final int TICK_MILLIS = 2000;
    private static final int CONNECTIONS = 100;

    private ServerOfItsOwnJars() {}

    /** Argument: a folder that is its own. */
    public static void main(String[] args) throws IOException, InterruptedException {
        File data = new File(args[0]);
        ServerCnxnFactory connections = ServerCnxnFactory.createFactory(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), CONNECTIONS);
        connections.startup(new ZooKeeperServer(data, data, TICK_MILLIS));
        System.out.println(READY + connections.getLocalPort());
        while (System.in.read() >= 0) {
            // Nothing is written to it; it ends with the process that started this one.
        }
        Runtime.getRuntime().halt(0);
    }
}
