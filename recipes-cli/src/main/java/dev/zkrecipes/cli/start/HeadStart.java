// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.start;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.security.SecureRandom;

/**
 * Uses for the first time, on a thread of its own, what the JDK prepares at its first use, while the first thread reads
 * the command line and installs the handlers of signals. Only parts of the JDK, of which any thread may be the first
 * user.
 */
final class HeadStart implements Runnable {
    private HeadStart() {}

    static void begin() {
        Thread thread = new Thread(new HeadStart(), "head start");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void run() {
        new SecureRandom().nextInt(); // for the names of nodes
        ClassLoader.getSystemResource("simplelogger.properties"); // opens the jar
        InetAddress.getLoopbackAddress();
        try (Selector selector = Selector.open();
                SocketChannel channel = SocketChannel.open()) {
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_CONNECT);
        } catch (IOException e) {
            // Whoever needs one will say so.
        }
    }
}
