// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.ZooKeeper;

/** The handle that a CuratorFramework has now. */
final class CuratorHandle {
    private CuratorHandle() {}

    static ZooKeeper of(CuratorFramework curator) {
        try {
            return curator.getZookeeperClient().getZooKeeper();
        } catch (Exception e) {
            throw new IllegalStateException("Curator has no handle now", e);
        }
    }
}
