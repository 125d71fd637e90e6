// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.it.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.test.EmbeddedZooKeeper;
import dev.zkrecipes.test.FaultProxy;
import dev.zkrecipes.test.RequestType;
import dev.zkrecipes.test.WithZooKeeper;
import dev.zkrecipes.test.internal.Soon;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.WatcherType;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Facts about ZooKeeper 3.9.5 that the engine relies on when a deletion alone grants a lock: in which order events come,
 * and which do not come. What a watch reports, the model conformity test of the explorer compares with a server.
 */
@WithZooKeeper
class DeletionWatchFactsIT {
    private static final int TIMEOUT_MILLIS = 30_000;
    private static final int NODES = 16;

    private final List<WatchedEvent> events = new CopyOnWriteArrayList<>();
    private EmbeddedZooKeeper server;
    private FaultProxy line;
    private ZooKeeper watching;
    private ZooKeeper others;

    @BeforeEach
    void connect(EmbeddedZooKeeper started) throws Exception {
        server = started;
        line = FaultProxy.to(server);
        // A client that knows two addresses does not wait between them.
        watching = open(line.connectString() + "," + line.connectString());
        others = open(server.connectString());
    }

    @AfterEach
    void close() throws InterruptedException {
        line.resume();
        watching.close();
        others.close();
        line.close();
        server.children("/").stream()
                .filter(name -> !name.equals("zookeeper"))
                .forEach(name -> server.deleteNode("/" + name));
    }

    private static ZooKeeper open(String address) throws IOException {
        CompletableFuture<WatchedEvent> connected = new CompletableFuture<>();
        ZooKeeper handle = new ZooKeeper(address, TIMEOUT_MILLIS, connected::complete);
        Soon.get(connected);
        return handle;
    }

    private List<String> makeNodes() throws Exception {
        List<String> nodes = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            nodes.add(others.create("/lock-", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL));
        }
        return nodes;
    }

    private final Watcher noting = event -> {
        if (event.getType() != EventType.None) {
            events.add(event);
        }
    };

    /** When this returns, everything that the server sent before has been delivered. */
    private void settle() throws Exception {
        CompletableFuture<Integer> told = new CompletableFuture<>();
        watching.exists("/", false, (rc, path, ctx, stat) -> told.complete(rc), null);
        assertThat(Soon.get(told)).isZero();
    }

    private List<String> told() {
        return events.stream()
                .map(event -> event.getType() + " " + event.getPath())
                .toList();
    }

    private List<String> pathsTold() {
        return events.stream().map(WatchedEvent::getPath).toList();
    }

    @Test
    void eventsOnOneConnection_arriveInTheOrderOfChanges_forBothKindsOfWatch() throws Exception {
        List<String> nodes = makeNodes();
        for (String node : nodes) {
            if (node.hashCode() % 2 == 0) {
                watching.getChildren(node, noting);
            } else {
                watching.getData(node, noting, null);
            }
        }
        List<String> order = new ArrayList<>(nodes.subList(NODES / 2, NODES));
        order.addAll(nodes.subList(0, NODES / 2));
        for (String node : order) {
            others.delete(node, -1);
        }
        settle();
        assertThat(pathsTold()).isEqualTo(order);
    }

    /** A client that watches both may see the one deletion and not the other yet, though neither was ever without the other. */
    @Test
    void deletionsInOneTransaction_areReportedInItsOrder() throws Exception {
        List<String> nodes = makeNodes();
        for (String node : nodes) {
            watching.getChildren(node, noting);
        }
        others.multi(List.of(Op.delete(nodes.get(1), -1), Op.delete(nodes.get(0), -1)));
        settle();
        assertThat(pathsTold()).containsExactly(nodes.get(1), nodes.get(0));
        assertThat(events.stream().map(WatchedEvent::getZxid).distinct()).hasSize(1);
    }

    /** The same nodes, deleted in opposite orders while the client was away. */
    @Test
    void missedEvents_arriveInAnotherOrderThanTheChanges() throws Exception {
        List<String> nodes = makeNodes();
        for (String node : nodes) {
            watching.getChildren(node, noting);
        }
        leave();
        for (String node : nodes) {
            others.delete(node, -1);
        }
        comeBack();
        List<String> forwards = List.copyOf(pathsTold());
        assertThat(events).allMatch(event -> event.getZxid() == WatchedEvent.NO_ZXID);
        assertThat(forwards).containsExactlyInAnyOrderElementsOf(nodes);

        events.clear();
        for (String node : nodes) {
            server.createNode(node, new byte[0]);
            watching.getChildren(node, noting);
        }
        leave();
        for (int i = NODES - 1; i >= 0; i--) {
            others.delete(nodes.get(i), -1);
        }
        comeBack();
        assertThat(pathsTold()).isEqualTo(forwards);
    }

    @Test
    void childWatch_survivesAReconnect_andMissesNoDeletion() throws Exception {
        List<String> nodes = makeNodes();
        watching.getChildren(nodes.get(0), noting);
        watching.getChildren(nodes.get(1), noting);
        watching.getData(nodes.get(2), noting, null);
        leave();
        others.setData(nodes.get(0), new byte[] {1}, -1);
        others.delete(nodes.get(1), -1);
        others.delete(nodes.get(2), -1);
        comeBack();
        assertThat(told())
                .as("data watches first; of the change of the data nothing")
                .containsExactly("NodeDeleted " + nodes.get(2), "NodeDeleted " + nodes.get(1));
        assertThat(line.requestsSeen().of(RequestType.SET_WATCHES)).isEqualTo(1);
        others.delete(nodes.get(0), -1);
        settle();
        assertThat(told()).endsWith("NodeDeleted " + nodes.get(0));
    }

    private void leave() {
        line.pause();
        line.cut();
        Soon.await().until(() -> !watching.getState().isConnected());
    }

    private void comeBack() throws Exception {
        line.resume();
        Soon.await().until(() -> watching.getState().isConnected());
        settle();
    }

    /** A client that may no longer read a node is not told of its end, so a waiter must keep READ. */
    @Test
    @Tag("H120")
    void deletionOfANodeThatMayNoLongerBeRead_isNotTold() throws Exception {
        others.addAuthInfo("digest", "owner:secret".getBytes(StandardCharsets.UTF_8));
        Watcher hidden = events::add;
        for (String name : List.of("/hidden", "/shown")) {
            others.create(name, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
            watching.getChildren(name, name.equals("/hidden") ? hidden : events::add);
        }
        others.setACL("/hidden", Ids.CREATOR_ALL_ACL, -1);
        others.delete("/hidden", -1);
        others.delete("/shown", -1);
        Soon.await().until(() -> !events.isEmpty());
        assertThat(events).extracting(WatchedEvent::getPath).containsExactly("/shown"); // which comes later
        // Awaited, as the server may not have closed the connection of the test before yet.
        Soon.await()
                .untilAsserted(() -> assertThat(server.watchCount())
                        .as("the watch was spent all the same")
                        .isZero());
        // So the client would keep its side for ever.
        assertThatThrownBy(() -> watching.removeWatches("/hidden", hidden, WatcherType.Any, false))
                .isInstanceOf(KeeperException.NoWatcherException.class);
        watching.removeWatches("/hidden", hidden, WatcherType.Any, true);
        Soon.await().until(() -> told().contains("ChildWatchRemoved /hidden"));
    }

    /** Those on the data go, whoever of the handle set them; those on children, and persistent ones, stay. */
    @Test
    @Tag("H123")
    void removalOfAllWatchesOnTheData_leavesOtherKinds() throws Exception {
        String path = others.create("/kinds", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        watching.getData(path, events::add, null);
        watching.getData(path, events::add, null);
        watching.getChildren(path, events::add);
        watching.addWatch(path, events::add, AddWatchMode.PERSISTENT);
        watching.removeAllWatches(path, WatcherType.Data, false);
        Soon.await().until(() -> events.size() == 2);
        assertThat(told()).containsExactly("DataWatchRemoved /kinds", "DataWatchRemoved /kinds");
        assertThat(server.childWatchers(path)).hasSize(1);
        others.create(path + "/child", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
        Soon.await().until(() -> events.size() == 4);
        others.setData(path, new byte[1], -1);
        Soon.await().until(() -> events.size() == 5);
        others.delete(path + "/child", -1);
        assertThat(told().subList(2, 5))
                .containsExactly("NodeChildrenChanged /kinds", "NodeChildrenChanged /kinds", "NodeDataChanged /kinds");
    }
}
