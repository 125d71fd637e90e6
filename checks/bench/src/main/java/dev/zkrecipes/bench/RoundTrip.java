// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench;

import dev.zkrecipes.bench.contender.Handles;
import dev.zkrecipes.bench.report.Summary;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.ZooKeeper;

/** The time of the smallest request. A proxy adds more than its set delay, as its threads have to wake up. */
final class RoundTrip {
    private static final int WARM_UP = 20;

    private RoundTrip() {}

    static double medianMicros(String connectString, int times) throws InterruptedException {
        ZooKeeper zooKeeper = Handles.connect(connectString);
        try {
            double[] micros = new double[times];
            for (int i = -WARM_UP; i < times; i++) {
                long start = System.nanoTime();
                zooKeeper.exists("/", false);
                if (i >= 0) {
                    micros[i] = (System.nanoTime() - start) / 1e3;
                }
            }
            return Summary.of(micros).median();
        } catch (KeeperException e) {
            throw new IllegalStateException(e);
        } finally {
            zooKeeper.close();
        }
    }
}
