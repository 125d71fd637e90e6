// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.cli.run;

import dev.zkrecipes.core.ZooKeeperClient;
import java.util.Optional;
import org.apache.zookeeper.ZooKeeper;

/**
 * Closes a client of a JVM that is about to end. ZooKeeper's handle is closed for the servers a tenth of a second
 * before its {@code close} returns, which sleeps; nobody has to wait for that.
 */
final class QuickEnd {
    private QuickEnd() {}

    /** Returns when the session has ended, or when the client has given up. */
    static void close(ZooKeeperClient client) {
        Optional<ZooKeeper> open =
                client.zooKeeper().filter(handle -> handle.getState().isAlive());
        Thread closer = new Thread(client::close, "closes the client");
        closer.setDaemon(true);
        try {
            closer.start();
        } catch (OutOfMemoryError e) { // there can be no more threads
            client.close();
        }
        boolean interrupted = false;
        while (closer.isAlive()
                && open.map(handle -> handle.getState().isAlive()).orElse(true)) {
            try {
                closer.join(1);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
