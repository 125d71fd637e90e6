// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import static dev.zkrecipes.test.Client.get;
import static dev.zkrecipes.test.internal.Soon.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Faults of single packets. */
@WithZooKeeper
class PacketFaultIT {
    private static final Duration LIMIT = Client.LIMIT;
    private static final long QUIET_MILLIS = 200;

    private final EmbeddedZooKeeper server;
    private final FaultProxy proxy;
    private final Client client;

    PacketFaultIT(EmbeddedZooKeeper server) {
        this.server = server;
        this.proxy = FaultProxy.to(server);
        this.client = Client.connect(proxy.connectString());
    }

    @AfterEach
    void close() {
        proxy.resume();
        client.close();
        proxy.close();
    }

    @Test
    void dropReply_losesTheReplyOfAnAppliedRequest_andAllBehindIt() throws InterruptedException {
        Fault fault = proxy.dropReply(RequestType.CREATE, 2);
        proxy.pauseRequests(); // so that all are under way at once
        CompletableFuture<Code> first = client.createAsync("/drop-reply-1");
        CompletableFuture<Code> second = client.createAsync("/drop-reply-2");
        CompletableFuture<Code> behind = client.existsAsync("/drop-reply-2");
        proxy.resume();

        assertThat(get(first)).isEqualTo(Code.OK);
        assertThat(get(second)).isEqualTo(Code.CONNECTIONLOSS);
        assertThat(get(behind)).isEqualTo(Code.CONNECTIONLOSS);
        fault.awaitFired(LIMIT);
        assertThat(fault.hasFired()).isTrue();
        assertThat(fault.fired()).isCompleted();
        assertThat(server.nodeExists("/drop-reply-2")).isTrue();

        client.awaitState(KeeperState.SyncConnected, 2);
        assertThat(get(client.createAsync("/drop-reply-3"))).isEqualTo(Code.OK);
    }

    @Test
    void dropReply_worksTwiceInARow() throws InterruptedException {
        Fault one = proxy.dropReply(RequestType.CREATE, 1);
        Fault two = proxy.dropReply(RequestType.CREATE, 2);
        for (int round = 1; round <= 2; round++) {
            String path = "/twice-" + round;
            assertThat(get(client.createAsync(path))).isEqualTo(Code.CONNECTIONLOSS);
            assertThat(server.nodeExists(path)).isTrue();
            (round == 1 ? one : two).awaitFired(LIMIT);
            assertThat(two.hasFired()).isEqualTo(round == 2);
            client.awaitState(KeeperState.SyncConnected, round + 1);
        }
        proxy.dropReply(RequestType.CREATE, 1);
        assertThat(get(client.createAsync("/thrice"))).isEqualTo(Code.CONNECTIONLOSS);
    }

    @Test
    void dropReply_ofTheConnectRequestCostsNoSession() throws InterruptedException {
        long session = client.session();
        Fault fault = proxy.dropReply(RequestType.RESUME_SESSION, 1);
        proxy.cut();
        fault.awaitFired(LIMIT);
        client.awaitState(KeeperState.SyncConnected, 2);
        assertThat(client.session()).isEqualTo(session);
        assertThat(proxy.requestsSeen().of(RequestType.RESUME_SESSION)).isEqualTo(2);
    }

    @Test
    void dropRequest_cutsBeforeTheServerHearsOfIt() throws InterruptedException {
        for (int round = 1; round <= 2; round++) {
            long before = server.requests().of(RequestType.CREATE);
            Fault fault = proxy.dropRequest(RequestType.CREATE, 1);
            assertThat(fault.hasFired()).isFalse();
            assertThat(get(client.createAsync("/drop-request"))).isEqualTo(Code.CONNECTIONLOSS);
            fault.awaitFired(LIMIT);
            client.awaitState(KeeperState.SyncConnected, round + 1);
            assertThat(server.nodeExists("/drop-request")).isFalse();
            assertThat(server.requests().of(RequestType.CREATE)).isEqualTo(before);
        }
        assertThat(proxy.requestsSeen().of(RequestType.CREATE)).isZero();
    }

    @Test
    void otherTypes_doNotCount() {
        Fault fault = proxy.dropRequest(RequestType.DELETE, 1);
        assertThat(get(client.createAsync("/other-types"))).isEqualTo(Code.OK);
        assertThat(fault.hasFired()).isFalse();
        assertThatThrownBy(() -> fault.awaitFired(Duration.ofMillis(50)))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("loss of request 1 of type DELETE did not happen within 50 ms");
    }

    @Test
    void holdRequest_stopsThatStreamInFrontOfIt() throws InterruptedException {
        try (Client other = Client.connect(proxy.connectString())) {
            Held held = proxy.holdRequest(RequestType.CREATE, 1);
            CompletableFuture<Code> before = client.existsAsync("/hold-request");
            CompletableFuture<Code> create = client.createAsync("/hold-request");
            CompletableFuture<Code> behind = client.existsAsync("/hold-request");
            held.awaitReached(LIMIT);
            assertThat(held.isReached()).isTrue();
            assertThat(get(before)).isEqualTo(Code.NONODE);
            assertNotDone(behind);
            assertThat(create).isNotDone();
            assertThat(server.nodeExists("/hold-request")).isFalse();
            assertThat(get(other.createAsync("/hold-request-other"))).isEqualTo(Code.OK);

            held.release();

            assertThat(get(create)).isEqualTo(Code.OK);
            assertThat(get(behind)).isEqualTo(Code.OK);
        }
    }

    @Test
    void holdReply_stopsTheRepliesOfAnAppliedRequest() throws InterruptedException {
        Held held = proxy.holdReply(RequestType.CREATE, 1);
        CompletableFuture<Code> create = client.createAsync("/hold-reply");
        held.awaitReached(LIMIT);
        assertThat(server.nodeExists("/hold-reply")).isTrue();
        CompletableFuture<Code> next = client.createAsync("/hold-reply-next");
        await().atMost(LIMIT).until(() -> server.nodeExists("/hold-reply-next"));
        assertNotDone(create);
        assertThat(next).isNotDone();
        held.release();
        assertThat(get(create)).isEqualTo(Code.OK);
        assertThat(get(next)).isEqualTo(Code.OK);
    }

    @Test
    void heldPacket_staysHeldOverPauseAndResume() throws InterruptedException {
        Held held = proxy.holdRequest(RequestType.CREATE, 1);
        CompletableFuture<Code> create = client.createAsync("/held-paused");
        held.awaitReached(LIMIT);
        proxy.pause();
        proxy.resume();
        assertNotDone(create);
        proxy.pause();
        held.release();
        assertNotDone(create);
        assertThat(server.nodeExists("/held-paused")).isFalse();
        proxy.resume();
        assertThat(get(create)).isEqualTo(Code.OK);
    }

    @Test
    void heldPacket_isLostWhenItsConnectionIsCut() throws InterruptedException {
        Held held = proxy.holdRequest(RequestType.CREATE, 1);
        CompletableFuture<Code> create = client.createAsync("/held-cut");
        held.awaitReached(LIMIT);
        proxy.cut();
        assertThat(get(create)).isEqualTo(Code.CONNECTIONLOSS);
        held.release();
        client.awaitState(KeeperState.SyncConnected, 2);
        assertThat(get(client.existsAsync("/held-cut"))).isEqualTo(Code.NONODE);
    }

    @Test
    void holdThenDrop_meetInOnePacket() throws InterruptedException {
        Held held = proxy.holdReply(RequestType.CREATE, 1);
        Fault fault = proxy.dropReply(RequestType.CREATE, 1);
        CompletableFuture<Code> create = client.createAsync("/hold-drop");
        held.awaitReached(LIMIT);
        assertNotDone(create);
        assertThat(fault.hasFired()).isFalse();
        held.release();
        fault.awaitFired(LIMIT);
        assertThat(get(create)).isEqualTo(Code.CONNECTIONLOSS);
    }

    @Test
    void revokedFaults_doNotHappen() {
        Fault fault = proxy.dropRequest(RequestType.CREATE, 1);
        Held held = proxy.holdRequest(RequestType.CREATE, 1);
        fault.disarm();
        held.release();
        assertThat(get(client.createAsync("/taken-back"))).isEqualTo(Code.OK);
        assertThat(fault.fired()).isCompletedExceptionally();
        assertThat(held.isReached()).isFalse();
        assertThatThrownBy(() -> fault.awaitFired(LIMIT)).hasMessageContaining("taken back");
    }

    @Test
    void revokedFault_whoseRequestHasPassed_doesNotHappen() {
        Fault fault = proxy.dropReply(RequestType.CREATE, 1);
        Held held = proxy.holdReply(RequestType.CREATE, 1);
        proxy.pauseReplies();
        CompletableFuture<Code> create = client.createAsync("/taken-back-late");
        await().atMost(LIMIT).until(() -> server.nodeExists("/taken-back-late"));
        fault.disarm();
        held.release();
        proxy.resume();
        assertThat(get(create)).isEqualTo(Code.OK);
        assertThat(fault.hasFired()).isFalse();
        assertThat(held.isReached()).isFalse();
        assertThatThrownBy(() -> fault.awaitFired(LIMIT)).hasMessageContaining("taken back");
    }

    /** The connection ends while the packet is held, so there is nothing to lose any more. */
    @Test
    void faultBehindAHold_isDroppedWithItsConnection() throws InterruptedException {
        for (boolean isOnReply : new boolean[] {false, true}) {
            Fault drop = isOnReply ? proxy.dropReply(RequestType.EXISTS, 1) : proxy.dropRequest(RequestType.EXISTS, 1);
            Held hold = isOnReply ? proxy.holdReply(RequestType.EXISTS, 1) : proxy.holdRequest(RequestType.EXISTS, 1);
            CompletableFuture<Code> lost = client.existsAsync("/");
            hold.awaitReached(LIMIT);
            proxy.cut();
            assertThat(get(lost)).isEqualTo(Code.CONNECTIONLOSS);
            assertThatThrownBy(() -> drop.awaitFired(LIMIT)).hasMessageContaining("connection ended before");
            client.awaitState(KeeperState.SyncConnected, isOnReply ? 3 : 2);
        }
    }

    @Test
    void faultOfALostReply_isDropped() {
        Held reply = proxy.holdReply(RequestType.CREATE, 1);
        Fault fault = proxy.dropReply(RequestType.CREATE, 1);
        proxy.pauseReplies();
        CompletableFuture<Code> create = client.createAsync("/given-up");
        await().atMost(LIMIT).until(() -> server.nodeExists("/given-up"));
        proxy.cut();
        assertThatThrownBy(() -> fault.awaitFired(LIMIT))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("connection ended before the reply came");
        assertThatThrownBy(() -> reply.awaitReached(LIMIT)).hasMessageContaining("connection ended");
        assertThat(create).succeedsWithin(LIMIT).isEqualTo(Code.CONNECTIONLOSS);
    }

    @Test
    void closedProxy_dropsItsFaults() {
        Fault fault = proxy.dropRequest(RequestType.CREATE, 1);
        Held held = proxy.holdRequest(RequestType.CREATE, 1);
        proxy.close();
        assertThatThrownBy(() -> fault.awaitFired(LIMIT)).hasMessageContaining("proxy was closed");
        assertThatThrownBy(() -> held.awaitReached(LIMIT)).hasMessageContaining("proxy was closed");
        assertThatThrownBy(() -> proxy.dropReply(RequestType.CREATE, 1)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void packets_areCountedFromOne() {
        assertThatThrownBy(() -> proxy.dropRequest(RequestType.CREATE, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> proxy.holdReply(RequestType.CREATE, -1)).isInstanceOf(IllegalArgumentException.class);
    }

    private static void assertNotDone(CompletableFuture<?> future) {
        assertThatThrownBy(() -> future.get(QUIET_MILLIS, TimeUnit.MILLISECONDS))
                .isInstanceOf(TimeoutException.class);
    }
}
