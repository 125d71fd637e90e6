// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.bench.scale;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.bench.contender.Contender;
import dev.zkrecipes.bench.contender.Work;
import dev.zkrecipes.core.IncompatibleNodeException;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.internal.Soon;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(600)
class CrowdIT {
    /** The second one finds a node of a lock of another kind. */
    @Test
    void sessionThatCannotLock_leavesNoneOfTheOthersOpen() throws Exception {
        try (EmbeddedZooKeeper server = EmbeddedZooKeeper.start();
                FaultProxy proxy = FaultProxy.to(server);
                ZooKeeper other = new ZooKeeper(server.connectString(), 60_000, event -> {});
                Crowd crowd = new Crowd(Contender.OURS, Work.MUTEX, proxy.connectString())) {
            server.createNode("/scale", new byte[0]);
            server.createNode("/scale/1", new byte[0]);
            other.create("/scale/1/other-0000000000", new byte[0], ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL);
            assertThatThrownBy(() -> crowd.resize(3)).isInstanceOf(IncompatibleNodeException.class);
            Soon.await().until(() -> proxy.connections() == 0);
        }
    }
}
