// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.examples;

import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.Lease;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.LockRefusedException;
import dev.zkrecipes.core.ZooKeeperClient;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockInternals;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.TestClients;
import dev.zkrecipes.test.WithZooKeeper;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;

/** What {@code docs/drivers.md} shows and says of errors. */
@Timeout(600)
@WithZooKeeper
class CustomDriversIT {
    private final EmbeddedZooKeeper server;
    private final String path;
    private final List<String> done = new ArrayList<>();
    private ZooKeeperClient client;

    CustomDriversIT(EmbeddedZooKeeper server, TestInfo test) {
        this.server = server;
        this.path = "/" + test.getTestMethod().orElseThrow().getName();
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

    /** A driver that is right but for what it is told. */
    private record Stub(String nodeName, String known, Supplier<Decision> decision) implements LockDriver {
        @Override
        public Optional<LockNode> parse(String childName) {
            return LockNode.parseWithPayload(childName, known);
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            return decision.get();
        }
    }

    private LockInternals engine(LockDriver driver) {
        return new LockInternals(client, path, driver, LockOptions.defaults());
    }

    @Test
    void malformedOrUnparsedName_isRefusedBeforeAnythingIsSent() {
        for (String name :
                List.of("", "kind.a", "kind.a-b-", "kind.a b-", "kind." + "x".repeat(81) + "-", "other.a-")) {
            assertThatThrownBy(() -> engine(new Stub(name, "kind.", Decision::granted)))
                    .as(name)
                    .isExactlyInstanceOf(IllegalArgumentException.class);
        }
        assertThat(server.nodeExists(path)).isFalse();
    }

    @Test
    void groupOfOtherCharacters_andEmptyRange_areRefused() {
        for (String group : List.of("a-b", "a b", "a/b", "a\nb", "-", "\u00e4", "\u0661", "x".repeat(81))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new GroupLock(client, path).lock(group))
                    .withMessageContaining("no group: \"" + group + "\"");
        }
        for (long to : new long[] {1, 0, Long.MIN_VALUE}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new RangeLock(client, path).lock(1, to))
                    .withMessageContaining("[1, " + to + ") is empty");
        }
    }

    @Test
    void throwingDriver_failsTheAcquireWithItsCause_andLeavesNoNode() {
        IllegalStateException mistake = new IllegalStateException("a mistake");
        LockDriver driver = new Stub("kind.a-", "kind.", () -> {
            throw mistake;
        });
        assertThatThrownBy(() -> engine(driver).threadOwned().acquire())
                .isExactlyInstanceOf(LockRefusedException.class)
                .hasCause(mistake);
        await().until(() -> server.children(path).isEmpty());
    }

    @Test
    void waitForANodeNotInFront_failsTheAcquire_andLeavesNoNode() {
        LockNode stranger =
                LockNode.parseWithPayload("kind.a-0000000000", "kind.").orElseThrow();
        LockDriver driver = new Stub("kind.a-", "kind.", () -> Decision.waitFor(stranger));
        assertThatThrownBy(() -> engine(driver).threadOwned().acquire())
                .isExactlyInstanceOf(LockRefusedException.class)
                .hasMessageContaining("do not stand in front");
        await().until(() -> server.children(path).isEmpty());
    }

    @Test
    void requestNeverGranted_failsWithTheReason_andLeavesNoNode() {
        LockDriver driver = new Stub("kind.a-", "kind.", () -> Decision.never("closed on Sundays"));
        assertThatThrownBy(() -> engine(driver).threadOwned().acquire())
                .isExactlyInstanceOf(LockRefusedException.class)
                .hasMessageContaining("closed on Sundays");
        await().until(() -> server.children(path).isEmpty());
    }
}
