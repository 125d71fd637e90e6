// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.zk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyBoolean;
import static org.mockito.ArgumentMatchers.eq;
import static org.mockito.Mockito.clearInvocations;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Children;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Created;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.NodeEvent;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.zookeeper.AsyncCallback.ACLCallback;
import org.apache.zookeeper.AsyncCallback.Children2Callback;
import org.apache.zookeeper.AsyncCallback.Create2Callback;
import org.apache.zookeeper.AsyncCallback.DataCallback;
import org.apache.zookeeper.AsyncCallback.MultiCallback;
import org.apache.zookeeper.AsyncCallback.StatCallback;
import org.apache.zookeeper.AsyncCallback.VoidCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.OpResult.CheckResult;
import org.apache.zookeeper.OpResult.ErrorResult;
import org.apache.zookeeper.Watcher.WatcherType;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.mockito.ArgumentCaptor;

/** What ZooKeeper's client does not tell, or tells in part only. */
class HandleOperationsTest {
    private static final String PATH = "/locks/orders";

    private final ZooKeeper handle = mock(ZooKeeper.class);
    private final ManualScheduler scheduler = new ManualScheduler();
    private final List<State> told = new ArrayList<>();
    private final HandleStates states = new HandleStates(told::add, scheduler).foundIn(State.CONNECTED);
    private int delivered; // otherwise than to the engine's own thread
    private final HandleOperations operations =
            new HandleOperations(handle, states, scheduler, this::mayRunHere, true, () -> {});

    private boolean mayRunHere() {
        delivered++;
        return true;
    }

    private Answer<Children> list(int rc, @Nullable List<String> names, @Nullable Stat stat) {
        List<Answer<Children>> answers = new ArrayList<>();
        operations.children(PATH, answers::add);
        ArgumentCaptor<Children2Callback> callback = ArgumentCaptor.captor();
        verify(handle).getChildren(any(), anyBoolean(), callback.capture(), any());
        callback.getValue().processResult(rc, PATH, null, names, stat);
        scheduler.run();
        return answers.get(0);
    }

    private Answer<List<OpResult>> multi(int rc, @Nullable List<OpResult> results) {
        List<Answer<List<OpResult>>> answers = new ArrayList<>();
        operations.multi(List.of(Op.check(PATH, -1), Op.check(PATH, -1)), answers::add);
        ArgumentCaptor<MultiCallback> callback = ArgumentCaptor.captor();
        verify(handle).multi(any(), callback.capture(), any());
        callback.getValue().processResult(rc, PATH, null, results);
        scheduler.run();
        return answers.get(0);
    }

    @Test
    void list_isAnswered() {
        Answer<Children> answer = list(0, List.of("a", "b"), new Stat());
        assertThat(answer.value().names()).containsExactly("a", "b");
    }

    /** One connection may lose thousands of requests, and what follows from that is to be done once. */
    @Test
    void lostAnswers_waitForTheEngine_andOthersAreDelivered() {
        list(Code.CONNECTIONLOSS.intValue(), null, null);
        assertThat(delivered).isZero();
        clearInvocations(handle);
        list(Code.NONODE.intValue(), null, null);
        assertThat(delivered).isOne();
    }

    @Test
    void listOfNothing_keepsItsCode() {
        assertThat(list(Code.NONODE.intValue(), null, null).code()).isEqualTo(Code.NONODE);
    }

    /** In the names that are missing may be that of the holder. */
    @Test
    void listThatBreaksOff_isLost_andWithItTheConnection() {
        assertThat(list(0, List.of("a"), null).code()).isEqualTo(Code.CONNECTIONLOSS);
        scheduler.advance(Duration.ofSeconds(1));
        assertThat(told).containsExactly(State.DISCONNECTED);
    }

    @Test
    void createThatBreaksOff_isLost() {
        List<Answer<Created>> answers = new ArrayList<>();
        operations.createEphemeralSequential(PATH, new byte[0], Ids.OPEN_ACL_UNSAFE, answers::add);
        ArgumentCaptor<Create2Callback> callback = ArgumentCaptor.captor();
        verify(handle).create(any(), any(), any(), any(), callback.capture(), any());
        callback.getValue().processResult(0, PATH, null, PATH + "1", null);
        scheduler.run();
        assertThat(answers.get(0).code()).isEqualTo(Code.CONNECTIONLOSS);
    }

    @Test
    void readThatBreaksOff_isLost_butANodeMayHaveNoData() {
        List<Answer<?>> answers = new ArrayList<>();
        operations.read(PATH, answers::add);
        operations.acl(PATH, answers::add);
        ArgumentCaptor<DataCallback> data = ArgumentCaptor.captor();
        ArgumentCaptor<ACLCallback> acl = ArgumentCaptor.captor();
        verify(handle).getData(any(), anyBoolean(), data.capture(), any());
        verify(handle).getACL(any(), any(), acl.capture(), any());
        data.getValue().processResult(0, PATH, null, new byte[] {1}, null);
        data.getValue().processResult(0, PATH, null, null, new Stat());
        acl.getValue().processResult(0, PATH, null, Ids.OPEN_ACL_UNSAFE, null);
        scheduler.run();
        assertThat(answers).extracting(Answer::code).containsExactly(Code.CONNECTIONLOSS, Code.OK, Code.CONNECTIONLOSS);
    }

    @Test
    void multi_isAnsweredWithAllResults() {
        assertThat(multi(0, List.of(new CheckResult(), new CheckResult())).isOk())
                .isTrue();
    }

    @Test
    void failedMulti_tellsWhatFailed() {
        Answer<List<OpResult>> failed =
                multi(Code.NONODE.intValue(), List.of(new ErrorResult(0), new ErrorResult(Code.NONODE.intValue())));
        assertThat(failed.code()).isEqualTo(Code.NONODE);
    }

    @Test
    void multiWithoutResults_keepsItsCode() {
        assertThat(multi(Code.SESSIONEXPIRED.intValue(), null).code()).isEqualTo(Code.SESSIONEXPIRED);
    }

    @Test
    void multiThatBreaksOff_isLost() {
        assertThat(multi(0, List.of(new CheckResult())).code()).isEqualTo(Code.CONNECTIONLOSS);
    }

    @Test
    void multiThatBreaksOffAtOnce_isLost() {
        assertThat(multi(0, null).code()).isEqualTo(Code.CONNECTIONLOSS);
    }

    @Test
    void unknownCode_isAnError() {
        assertThat(list(-4711, null, null).code()).isEqualTo(Code.SYSTEMERROR);
    }

    /** The event that spent it was told to nobody, and the client would keep its side for ever. */
    @Test
    @Tag("H120")
    void watchThatTheServerDoesNotHave_isDroppedAtTheClient() {
        Consumer<NodeEvent> watch = event -> {};
        operations.watchChildren(PATH, watch, answer -> {});
        operations.dropWatch(PATH, watch);
        ArgumentCaptor<VoidCallback> callback = ArgumentCaptor.captor();
        verify(handle).removeWatches(any(), any(), any(), eq(false), callback.capture(), any());
        callback.getValue().processResult(Code.NOWATCHER.intValue(), PATH, null);
        verify(handle).removeWatches(any(), any(), any(), eq(true), any(), any());
    }

    /** Watches the data of these paths, and drops that. */
    private static void dropOfData(HandleOperations operations, IntStream paths) {
        paths.forEach(path -> {
            Consumer<NodeEvent> watch = new ArrayDeque<NodeEvent>()::add;
            operations.readAndWatch("/rules/" + path, watch, answer -> {});
            operations.dropWatch("/rules/" + path, watch);
        });
    }

    @Test
    @Tag("H123")
    void serverKeepsAThousandDataWatches_andOthersAreRemovedByTheSameRequest() {
        dropOfData(operations, IntStream.range(0, 1_000));
        verify(handle, never()).removeAllWatches(any(), any(), anyBoolean(), any(), any());
        dropOfData(operations, IntStream.range(998, 1_002));
        verify(handle, times(1_002)).removeWatches(any(), any(), any(), eq(false), any(), any());
        verify(handle, times(2)).removeAllWatches(any(), any(), anyBoolean(), any(), any());
        verify(handle).removeAllWatches(eq("/rules/1000"), eq(WatcherType.Data), eq(false), any(), any());
        verify(handle).removeAllWatches(eq("/rules/1001"), eq(WatcherType.Data), eq(false), any(), any());
    }

    /** The nodes that are watched for their deletion do not stay. */
    @Test
    @Tag("H123")
    void deletionWatches_areDroppedOneByOne_howeverManyThereAre() {
        dropOfData(operations, IntStream.range(0, 1_000));
        Consumer<NodeEvent> watch = event -> {};
        operations.watchChildren(PATH, watch, answer -> {});
        operations.dropWatch(PATH, watch);
        verify(handle, never()).removeAllWatches(any(), any(), anyBoolean(), any(), any());
    }

    /** The server begins with the watches that the client knows. */
    @Test
    @Tag("H123")
    void newConnection_beginsTheCountAnew() {
        dropOfData(operations, IntStream.range(0, 1_000));
        states.onEvent(State.DISCONNECTED);
        states.onEvent(State.CONNECTED);
        dropOfData(operations, IntStream.range(1_000, 2_000));
        verify(handle, never()).removeAllWatches(any(), any(), anyBoolean(), any(), any());
        dropOfData(operations, IntStream.range(2_000, 2_001));
        verify(handle).removeAllWatches(any(), any(), anyBoolean(), any(), any());
    }

    @Test
    @Tag("H123")
    void handleOfTheApplications_keepsAll() {
        HandleOperations wrapped = new HandleOperations(handle, states, scheduler, this::mayRunHere, false, () -> {});
        dropOfData(wrapped, IntStream.range(0, 1_100));
        verify(handle, never()).removeAllWatches(any(), any(), anyBoolean(), any(), any());
    }

    /** Loses the connection, and answers what is asked then. */
    private void lookWhile(ZooKeeper.States before, ZooKeeper.States after, int rc) {
        when(handle.getState()).thenReturn(before, after);
        states.onEvent(State.DISCONNECTED);
        scheduler.advance(Duration.ofSeconds(3));
        ArgumentCaptor<StatCallback> callback = ArgumentCaptor.captor();
        verify(handle).exists(any(), anyBoolean(), callback.capture(), any());
        callback.getValue().processResult(rc, "/", null, null);
        scheduler.run();
    }

    @Test
    void connectionThatNoEventTellsOf_isFound() {
        lookWhile(ZooKeeper.States.CONNECTED, ZooKeeper.States.CONNECTED, Code.NONODE.intValue());
        assertThat(told).containsExactly(State.DISCONNECTED, State.CONNECTED);
    }

    @Test
    void readOnlyConnectionThatNoEventTellsOf_isFound() {
        lookWhile(ZooKeeper.States.CONNECTEDREADONLY, ZooKeeper.States.CONNECTEDREADONLY, 0);
        assertThat(told).containsExactly(State.DISCONNECTED, State.READ_ONLY);
    }

    @Test
    void connectionThatGoesMeanwhile_isNone() {
        lookWhile(ZooKeeper.States.CONNECTED, ZooKeeper.States.CONNECTING, 0);
        assertThat(told).containsExactly(State.DISCONNECTED);
    }

    @Test
    void connectionThatDoesNotAnswer_isNone() {
        lookWhile(ZooKeeper.States.CONNECTED, ZooKeeper.States.CONNECTED, Code.CONNECTIONLOSS.intValue());
        assertThat(told).containsExactly(State.DISCONNECTED);
    }

    @Test
    void handleThatIsNotConnected_isNotAsked() {
        when(handle.getState()).thenReturn(ZooKeeper.States.CONNECTING);
        states.onEvent(State.DISCONNECTED);
        scheduler.advance(Duration.ofSeconds(3));
        verify(handle, never()).exists(any(), anyBoolean(), any(), any());
    }
}
