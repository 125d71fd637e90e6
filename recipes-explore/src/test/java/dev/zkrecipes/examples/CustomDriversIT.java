// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What {@code docs/drivers.md} shows and says of errors. */
@Timeout(600)
@WithZooKeeper
class CustomDriversIT {
    private final EmbeddedZooKeeper server;
    private final List<String> done = new ArrayList<>();
    private ZooKeeperClient client;

    CustomDriversIT(EmbeddedZooKeeper server) {
        this.server = server;
    }

    @BeforeEach
    void connect() throws InterruptedException {
        client = TestClients.connect(server.connectString());
    }

    @AfterEach
    void close() {
        client.close();
    }

    private void paint() {
        done.add("paint");
    }

    private void write(int from, int to) {
        done.add("write " + from + " " + to);
    }

    @Test
    void use() throws Exception {
        GroupLock room = new GroupLock(client, "/rooms/7");
        try (Lease lease = room.lock("painters").acquire()) {
            paint();
        }
        RangeLock file = new RangeLock(client, "/files/42");
        try (Lease lease = file.lock(0, 4096).acquire()) {
            write(0, 4096);
        }
        assertThat(done).containsExactly("paint", "write 0 4096");
    }

    @Test
    void groupOfOtherCharacters_andEmptyRange_areRefused() {
        for (String group : List.of("a-b", "a b", "a/b", "a\nb", "-", "\u00e4", "\u0661", "x".repeat(81))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new GroupLock(client, "/refused").lock(group))
                    .withMessageContaining("no group: \"" + group + "\"");
        }
        for (long to : new long[] {1, 0, Long.MIN_VALUE}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new RangeLock(client, "/refused").lock(1, to))
                    .withMessageContaining("[1, " + to + ") is empty");
        }
    }
}
