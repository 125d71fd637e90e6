// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.clean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyBoolean;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.apache.zookeeper.AsyncCallback.ChildrenCallback;
import org.apache.zookeeper.AsyncCallback.MultiCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is sent through a handle of the application's after the client has ended. */
@Tag("H186")
class DeletionAfterCloseTest {
    private static final String PATH = "/locks/orders";

    private final ZooKeeper handle = mock(ZooKeeper.class);
    private final List<String> sent = new ArrayList<>();
    private final Deque<Code> answers = new ArrayDeque<>(); // OK when there are no more
    private final DeletionAfterClose deletion = new DeletionAfterClose(handle);

    @BeforeEach
    void play() {
        when(handle.getState()).thenReturn(ZooKeeper.States.CONNECTING);
        doAnswer(call -> {
                    List<Op> operations = call.getArgument(0);
                    Op only = operations.get(0);
                    sent.add((only.getType() == OpCode.delete ? "delete " : "check ") + only.getPath());
                    call.<MultiCallback>getArgument(1).processResult(next(), PATH, null, List.of());
                    return null;
                })
                .when(handle)
                .multi(any(), any(MultiCallback.class), any());
        doAnswer(call -> {
                    sent.add("list");
                    List<String> names = List.of("a-lock-0000000001", "b-lock-0000000002", "c-lock-0000000003");
                    call.<ChildrenCallback>getArgument(2).processResult(next(), PATH, null, names);
                    return null;
                })
                .when(handle)
                .getChildren(any(), anyBoolean(), any(ChildrenCallback.class), any());
    }

    private int next() {
        return (answers.isEmpty() ? Code.OK : answers.remove()).intValue();
    }

    @Test
    void lostDeletion_isSentAgain_untilItIsAnswered() {
        answers.addAll(List.of(Code.CONNECTIONLOSS, Code.OPERATIONTIMEOUT, Code.NONODE));
        deletion.delete(PATH + "/a");
        assertThat(sent).hasSize(3).containsOnly("delete " + PATH + "/a");
    }

    @ParameterizedTest
    @EnumSource(
            value = Code.class,
            names = {"NOAUTH", "NOTREADONLY"})
    void refusedDeletion_isNotRepeated(Code code) {
        answers.add(code);
        deletion.delete(PATH + "/a");
        assertThat(sent).hasSize(1);
    }

    @Test
    void endedSession_hasNoNodes() {
        when(handle.getState()).thenReturn(ZooKeeper.States.CLOSED);
        answers.add(Code.CONNECTIONLOSS);
        deletion.delete(PATH + "/a");
        assertThat(sent).hasSize(1);
    }

    @Test
    void nodesThatMayExist_areSoughtBehindAWrite_alsoAfterALoss() {
        answers.addAll(List.of(Code.CONNECTIONLOSS, Code.OK, Code.CONNECTIONLOSS));
        deletion.deleteIn(PATH, List.of("a-lock-", "c-lock-"));
        assertThat(sent)
                .containsExactly(
                        "check " + PATH,
                        "check " + PATH,
                        "list",
                        "check " + PATH,
                        "list",
                        "delete " + PATH + "/a-lock-0000000001",
                        "delete " + PATH + "/c-lock-0000000003");
    }

    /** It may be too large for a packet, and each loss is one of the application's connection. */
    @Test
    void listThatIsLostAgainAndAgain_isGivenUp() {
        for (int i = 0; i < 300; i++) {
            answers.add(Code.OK);
            answers.add(Code.CONNECTIONLOSS);
        }
        deletion.deleteIn(PATH, List.of("a-lock-"));
        assertThat(sent).filteredOn("list"::equals).hasSize(101);
    }
}
