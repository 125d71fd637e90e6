// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.curator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.InterProcessLock;
import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.curator.Party.Hold;
import dev.zkrecipes.curator.Party.Kind;
import dev.zkrecipes.handoff.HandoffMutex;
import dev.zkrecipes.test.internal.ServerStage;
import dev.zkrecipes.test.internal.Soon;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** P14: a mutex that passes on inside the process, and Apache Curator's on the same path. */
@Tag("H65")
class HandoffNeighboursIT extends ServerStage {
    private static final String PATH = "/handoff-neighbours";

    @Test
    void curator_getsItsTurnAtTheBound_andNotBefore() throws Exception {
        ZooKeeperClient client = client();
        InterProcessLock ours = new HandoffMutex(client, PATH, 2);
        Lease first = ours.acquire();
        Party curator = Party.theirs(server, PATH, Kind.MUTEX);
        CompletableFuture<Hold> wanted = curator.acquire();
        Soon.await().until(() -> server.children(PATH).size() == 2);
        List<CompletableFuture<Lease>> waiting =
                Stream.generate(ours::acquireAsync).limit(3).toList();
        Soon.await().until(() -> server.children(PATH).size() == 3);

        first.close();
        Soon.get(Soon.get(waiting.get(0)).closeAsync());
        Lease last = Soon.get(waiting.get(1));
        last.verify();
        assertThat(wanted).isNotDone();
        Soon.get(last.closeAsync());
        Hold theirs = Soon.get(wanted);
        client.zooKeeper().orElseThrow().exists("/", false);
        assertThat(waiting.get(2)).isNotDone();
        theirs.giveBack();
        Soon.get(Soon.get(waiting.get(2)).closeAsync());
        curator.close();
        Soon.await().until(() -> server.children(PATH).isEmpty());
    }
}
