// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test.internal;

import java.io.IOException;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;

/** The process of one server. It ends with the process that started it, even if that one is killed. */
public final class EnsembleProcess {
    private EnsembleProcess() {}

    /** Argument: the configuration file. */
    public static void main(String[] args) {
        Thread orphanage = new Thread(EnsembleProcess::endWithParent, "ends-with-parent");
        orphanage.setDaemon(true);
        orphanage.start();
        QuorumPeerMain.main(args);
    }

    private static void endWithParent() {
        try {
            while (System.in.read() >= 0) {
                // Nothing is written to it; it ends when the parent has ended.
            }
        } catch (IOException e) {
            // As its end.
        }
        Runtime.getRuntime().halt(1);
    }
}
