// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LeaseState;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.WithZooKeeper;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What the test of an application may look like. */
@WithZooKeeper
class PainterIT {
    @Test
    void expiredSession_losesTheRoom(EmbeddedZooKeeper server) throws Exception {
        try (ZooKeeperClient client = ZooKeeperClient.connect(server.connectString());
                Lease lease = new GroupLock(client, "/rooms/7").lock("painters").acquire()) {
            server.sessions().forEach(server::expireSession);
            assertThat(lease.ended()).succeedsWithin(Duration.ofSeconds(120)).isEqualTo(LeaseState.LOST);
        }
    }
}
