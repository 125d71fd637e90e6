// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.acquire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.LockLimitException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.internal.clean.OwnNode;
import dev.zkrecipes.core.internal.queue.LockGroup;
import dev.zkrecipes.core.internal.session.Session;
import dev.zkrecipes.core.internal.zk.PacketLimit;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Creates that no packet can carry, or that would be too much for the record of the session's end, are not sent. */
class CreateNodesTest extends AcquireFixture {
    private static final int ROOM_BESIDE = 4096;

    private OwnNode held;
    private Session session;

    @BeforeEach
    void openSession() {
        held = assertGranted(queueing()).node();
        session = held.session();
        operations.requests();
    }

    private CreateNodes creation(int locks, List<ACL> acl) {
        LockOptions options = LockOptions.defaults().withAcl(acl);
        LockGroup group = locks == 1
                ? LockGroup.of(spec(new TestDriver("lock-"), options))
                : together(
                        options,
                        IntStream.range(0, locks)
                                .mapToObj(i -> AcquireFixture.PATH + i)
                                .toArray(String[]::new));
        return new CreateNodes(engine.requests(), group, session, List.of());
    }

    /** With an ACL of so many characters, beside what every ACL takes. */
    private CreateNodes creationOfLength(int locks, int characters) {
        return creation(locks, List.of(new ACL(ZooDefs.Perms.ALL, new Id("auth", "x".repeat(characters)))));
    }

    private int sizeOf(CreateNodes creation, List<ACL> acl) {
        byte[] data = engine.requests().nodeData(spec(new TestDriver("lock-")), LockOptions.defaults(), List.of());
        return PacketLimit.sizeOf(creation.nodes.stream()
                .map(node -> Op.create(node.prefix(), data, acl, CreateMode.EPHEMERAL_SEQUENTIAL))
                .toList());
    }

    /** The ACLs' characters with which the creates of so many locks fill a packet. */
    private int charactersThatFit(int locks) {
        List<ACL> empty = List.of(new ACL(ZooDefs.Perms.ALL, new Id("auth", "")));
        return packetRoom() - sizeOf(creation(locks, empty), empty);
    }

    private int packetRoom() {
        return session.nodes().packetLimit() - ROOM_BESIDE;
    }

    @Test
    void createThatJustFitsAPacket_isSent() {
        creationOfLength(1, charactersThatFit(1)).send(answer -> {});
        assertThat(operations.requests()).containsExactly(Request.CREATE);
    }

    @Test
    void createThatDoesNotFitAPacket_isRefused() {
        CreateNodes creation = creationOfLength(1, charactersThatFit(1) + 1);
        assertThatThrownBy(() -> creation.send(answer -> {}))
                .isInstanceOf(LockLimitException.class)
                .hasMessageStartingWith("lock /locks/orders: the request for its node takes " + (packetRoom() + 1)
                        + " bytes and must not exceed " + packetRoom() + " ");
        assertRefused(creation);
    }

    @Test
    void createsThatDoNotFitAPacketTogether_areRefused() {
        int each = charactersThatFit(3) / 3;
        creationOfLength(3, each).send(answer -> {});
        assertThat(operations.requests()).containsExactly(Request.MULTI);

        CreateNodes creation = creationOfLength(3, each + 1);
        assertThatThrownBy(() -> creation.sendTogether(answer -> {}))
                .isInstanceOf(LockLimitException.class)
                .hasMessageStartingWith("lock /locks/orders0 and 2 more: the request for 3 nodes takes ");
        assertRefused(creation);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void sessionWithRoomForNoMore_isFull(int locks) {
        int room = session.nodes().packetLimit() / 8 * 7;
        int more = creation(locks, ZooDefs.Ids.OPEN_ACL_UNSAFE).nodes.stream()
                .mapToInt(OwnNode::sizeAtEnd)
                .sum();
        session.nodes().add("others", room - held.sizeAtEnd() - more + 1);

        CreateNodes creation = creation(locks, ZooDefs.Ids.OPEN_ACL_UNSAFE);
        assertThatThrownBy(() -> creation.send(answer -> {}))
                .isInstanceOf(LockLimitException.class)
                .hasMessageStartingWith(
                        locks == 1 ? "lock /locks/orders: its session" : "lock /locks/orders0 and 1 more: its session");
        assertRefused(creation);

        session.nodes().remove("others", 1);
        creation(locks, ZooDefs.Ids.OPEN_ACL_UNSAFE).send(answer -> {});
        assertThat(operations.requests()).hasSize(1);
    }

    /** They count no more, so what is refused leaves room for others. */
    private void assertRefused(CreateNodes creation) {
        assertThat(operations.requests()).isEmpty();
        assertThat(creation.nodes).extracting(OwnNode::existence).containsOnly(OwnNode.Existence.ABSENT);
    }
}
