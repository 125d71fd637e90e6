// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.internal;

import java.io.IOException;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;

/** The main class of a server process. The process ends when its parent process ends, even if the parent is killed. */
public final class EnsembleProcess {
    private EnsembleProcess() {}

    /** Runs a server; the only argument is its configuration file. */
    public static void main(String[] args) {
        Thread orphanage = new Thread(EnsembleProcess::endWithParent, "ends-with-parent");
        orphanage.setDaemon(true);
        orphanage.start();
        QuorumPeerMain.main(args);
    }

    private static void endWithParent() {
        try {
            while (System.in.read() >= 0) {
                // Nothing is written to the standard input. It reaches EOF when the parent has ended.
            }
        } catch (IOException e) {
            // An error has the same meaning as EOF.
        }
        Runtime.getRuntime().halt(1);
    }
}
