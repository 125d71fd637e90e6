// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.spy;
import static org.mockito.Mockito.when;

import dev.zkrecipes.core.internal.ScriptedOperations;
import dev.zkrecipes.core.internal.ScriptedOperations.Request;
import dev.zkrecipes.core.internal.handle.Containers;
import dev.zkrecipes.core.internal.reads.WatchScene;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a check of held nodes names, and what the nodes are told. */
class KeepAliveChecksTest {
    private final WatchScene scene = new WatchScene();
    private final KeepAlive keepAlive = scene.session.keepAlive();
    private final Duration period = scene.operations.sessionTimeout().dividedBy(6);

    private static final class Node implements KeepAlive.CheckedNode {
        private final String path;
        private final long grantedAt;
        private final List<String> told = new ArrayList<>();

        Node(String path, long grantedAt) {
            this.path = path;
            this.grantedAt = grantedAt;
        }

        @Override
        public String nodePath() {
            return path;
        }

        @Override
        public long grantedAt() {
            return grantedAt;
        }

        @Override
        public void lose(String reason) {
            told.add(reason);
        }

        @Override
        public void endAtOnce(String reason) {
            told.add("end: " + reason);
        }

        @Override
        public void onNodeGone() {
            told.add("gone");
        }

        @Override
        public void finishEnd() {}

        @Override
        public void abandon() {
            told.add("abandon");
        }
    }

    /** A node below a path of this length, which is there. */
    private Node held(int length, String name) {
        return held(keepAlive, length, name);
    }

    private Node held(KeepAlive checks, int length, String name) {
        scene.operations.add(name);
        Node node = new Node("/" + "x".repeat(length) + "/" + name, scene.scheduler.nanoTime());
        checks.add(node);
        return node;
    }

    @Test
    void nodesWithLongPaths_areCheckedInParts() {
        for (int i = 0; i < 6; i++) {
            held(40_000, "lock-000000010" + i); // two are below 100,000 characters
        }
        scene.operations.requests();
        scene.scheduler.advance(period);
        assertThat(scene.operations.requests()).containsExactly(Request.MULTI, Request.MULTI, Request.MULTI);
    }

    /** Otherwise no check would be sent, and all holds of the session would be lost after its time-out. */
    @Test
    @Tag("H207")
    void manyNodesOfAClientWithSmallPackets_areCheckedInParts() {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKClientConfig.JUTE_MAXBUFFER, "10000");
        ZooKeeper handle = mock(ZooKeeper.class);
        when(handle.getClientConfig()).thenReturn(config);
        ScriptedOperations operations = spy(scene.operations);
        when(operations.handle()).thenReturn(Optional.of(handle));
        Session session = new Session(
                states -> operations,
                scene.scheduler,
                new Containers(false, scene.scheduler),
                operations.sessionTimeout(),
                period,
                true,
                (ended, state) -> {});
        session.begin();
        session.check(List.of("/"), answer -> {});
        List<Node> all = IntStream.range(100, 400)
                .mapToObj(i -> held(session.keepAlive(), 10, "lock-0000000" + i))
                .toList();
        scene.scheduler.advance(operations.sessionTimeout().multipliedBy(2));
        assertThat(all).allSatisfy(node -> assertThat(node.told).isEmpty());
        assertThat(session.isProven()).isTrue();
    }

    @Test
    void nodeThatIsGone_isToldSo_andNoOther() {
        Node first = held(10, "lock-0000000101");
        Node second = held(10, "lock-0000000102");
        Node third = held(10, "lock-0000000103");
        scene.operations.removeUntold("lock-0000000102");
        scene.scheduler.advance(period);
        assertThat(second.told).containsExactly("gone");
        assertThat(first.told).isEmpty();
        assertThat(third.told).isEmpty();
    }

    /** Anybody may change the ACL of a node with an open one. The other holds of the session must not pay for it. */
    @Test
    @Tag("H192")
    void nodeThatMayNotBeSeenAnyMore_isLost_andNoOther() {
        Node first = held(10, "lock-0000000101");
        Node second = held(10, "lock-0000000102");
        Node third = held(10, "lock-0000000103");
        scene.operations.forbid("lock-0000000102");
        scene.scheduler.advance(period);
        assertThat(second.told).singleElement().asString().contains("changed the ACL");
        keepAlive.remove(second);
        scene.scheduler.advance(scene.operations.sessionTimeout().multipliedBy(2));
        assertThat(first.told).isEmpty();
        assertThat(third.told).isEmpty();
        assertThat(scene.session.isProven()).isTrue();
    }

    /** One check is sent all the same: its answer tells that the session lives, if it does. */
    @Test
    void nodesThatTheSessionHasOutlived_areLostWithoutAnAnswer() {
        Node node = held(10, "lock-0000000101");
        scene.operations.requests();
        scene.scheduler.stop(scene.operations.sessionTimeout());
        assertThat(node.told).contains(Session.OUTLIVED);
        assertThat(scene.operations.requests()).isNotEmpty().containsOnly(ScriptedOperations.Request.MULTI);
    }
}
