// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.handle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.LIST;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.zkrecipes.core.internal.ManualScheduler;
import dev.zkrecipes.core.internal.PrintedWhile;
import dev.zkrecipes.core.internal.zk.PacketLimit;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Access;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Children;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.NodeEvent;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.State;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class MeasuredOperationsTest {
    private static final int DEFAULT = PacketLimit.DEFAULT;
    private static final List<Op> READS = List.of(Op.getChildren("/a"), Op.getChildren("/b"));

    private final ManualScheduler scheduler = new ManualScheduler();
    private final List<Consumer<Answer<?>>> underWay = new ArrayList<>();
    private final List<String> asked = new ArrayList<>();
    private final List<Object> operationsAsked = new ArrayList<>();
    private final List<Code> answers = new ArrayList<>();
    private Optional<ZooKeeper> handle = Optional.empty();
    private Consumer<State> states = state -> {};
    private final ZooKeeperOperations measured = measured();

    /** A server before 3.6 answers the first one so and then closes the connection. */
    @Test
    @Tag("H98")
    void serverWithoutMultiReads_isNotAskedAgain_thoughAnotherAnswerIsLost() {
        measured.multi(READS, this::note);
        measured.multi(READS, this::note);
        underWay.get(0).accept(Answer.failed(Code.UNIMPLEMENTED));
        underWay.get(1).accept(Answer.failed(Code.CONNECTIONLOSS));

        measured.multi(READS, this::note);
        scheduler.run();
        assertThat(underWay).hasSize(2);
        assertThat(answers).containsExactly(Code.UNIMPLEMENTED, Code.CONNECTIONLOSS, Code.UNIMPLEMENTED);
    }

    /** Such a server answers it before what was sent earlier, and the client gives up a connection with answers out of order. */
    @Test
    @Tag("H98")
    void multiReadLostTwice_isSentAgainBehindAnAnswer() {
        loseTwice(() -> measured.multi(READS, this::note));
        answers.clear();
        measured.multi(READS, this::note);
        assertThat(asked).containsExactly("multi", "multi", "acl");
        lose();
        assertThat(answers).containsExactly(Code.CONNECTIONLOSS);

        measured.multi(READS, this::note);
        answer(sized(0, 3));
        answer(sized(0, 3));
        assertThat(asked).as("each path is asked about").endsWith("acl", "acl", "acl", "multi");
        answer(Answer.failed(Code.UNIMPLEMENTED));
        assertThat(answers).last().isEqualTo(Code.UNIMPLEMENTED);
    }

    @Test
    @Tag("H75")
    void listGivenBetweenConnections_isLostWithTheSecond_andMeasuredBeforeTheThird() {
        list();
        lose();
        states.accept(State.DISCONNECTED);
        list();
        states.accept(State.CONNECTED);
        lose();
        states.accept(State.DISCONNECTED);
        list();
        assertThat(asked).containsExactly("children", "children", "acl");
    }

    @Test
    @Tag("H75")
    void listsGivenWhileNoServerIsThere_areNotSuspected() {
        states.accept(State.DISCONNECTED);
        for (int i = 0; i < 3; i++) {
            list();
            lose();
        }
        states.accept(State.CONNECTED);
        list();
        lose();
        states.accept(State.DISCONNECTED);
        list();
        assertThat(asked).hasSize(5).containsOnly("children");
    }

    @Test
    @Tag("H75")
    void lossesOnOneConnection_countOnce() {
        list();
        list();
        lose(0);
        lose(1);
        list();
        assertThat(asked).containsExactly("children", "children", "children");
    }

    @Test
    @Tag("H75")
    void answerBetweenTwoLosses_clears() {
        list();
        lose();
        list();
        answer(Answer.failed(Code.NONODE));
        list();
        lose();
        list();
        assertThat(asked).containsOnly("children");
    }

    /** Connections that break for other reasons fail nothing. */
    @Test
    @Tag("H75")
    void whatIsNotTooLarge_isReadWhenItIsAskedForAgain() {
        loseTwice(() -> read());
        answers.clear();
        read();
        answer(sized(DEFAULT - 1000, 0));
        assertThat(answers).containsExactly(Code.CONNECTIONLOSS);
        read();
        assertThat(asked).containsExactly("read", "read", "acl", "read");
    }

    /** It would stay for ever. */
    @Test
    @Tag("H75")
    void watchThatIsDroppedWhileItsNodeIsExamined_isNotSet() {
        Consumer<NodeEvent> watch = event -> {};
        loseTwice(() -> measured.readAndWatch("/a", watch, this::note));
        measured.readAndWatch("/a", watch, this::note);
        measured.dropWatch("/a", watch);
        underWay.get(2).accept(sized(7, 0));
        assertThat(asked).containsExactly("readAndWatch", "readAndWatch", "acl", "dropWatch");
    }

    @Test
    @Tag("H75")
    void tooLargeData_areNotRead_untilTheyFit() {
        loseTwice(() -> read());
        for (int i = 0; i < 3; i++) {
            read();
            answer(sized(DEFAULT, 0));
        }
        assertThat(asked).containsExactly("read", "read", "acl", "acl", "acl");
        assertThat(answers).endsWith(Code.MARSHALLINGERROR, Code.MARSHALLINGERROR, Code.MARSHALLINGERROR);
        read();
        answer(sized(7, 0));
        read();
        assertThat(asked).last().isEqualTo("read");
    }

    @Test
    @Tag("H75")
    void nodeThatIsGone_orMayNotBeAskedAbout() {
        loseTwice(() -> read());
        answers.clear();
        read();
        answer(Answer.failed(Code.NOAUTH));
        assertThat(answers).containsExactly(Code.NOAUTH);
        read();
        answer(Answer.failed(Code.NONODE));
        assertThat(answers).containsExactly(Code.NOAUTH, Code.NONODE);
        read();
        assertThat(asked).endsWith("acl", "acl", "read");
    }

    @Test
    @Tag("H75")
    void children_areTooManyForTheLongestNames() {
        loseTwice(() -> list());
        list();
        answer(sized(0, 5000));
        assertThat(answers).last().isEqualTo(Code.MARSHALLINGERROR);
        list();
        answer(sized(0, 4000));
        list();
        assertThat(asked).endsWith("acl", "acl", "children");
    }

    @Test
    @Tag("H75")
    void childrenListedBefore_areJudgedByTheirNames() {
        list();
        answer(Answer.ok(
                new Children(Collections.nCopies(2000, "x".repeat(46)), new Stat()))); // 50 bytes, and a quarter
        loseTwice(() -> list());
        list();
        answer(sized(0, 16_000));
        list();
        assertThat(asked).endsWith("acl", "children");
        loseTwice(() -> list());
        list();
        answer(sized(0, 18_000));
        assertThat(answers).last().isEqualTo(Code.MARSHALLINGERROR);
    }

    /** 45 bytes and the field of their length, and a quarter. */
    @Test
    @Tag("H191")
    void namesInOtherScripts_countAsTheBytesThatTheyTake() {
        listed("\u8a02".repeat(15));
        loseTwice(() -> list());
        list();
        answer(sized(0, 18_000));
        assertThat(answers).last().isEqualTo(Code.MARSHALLINGERROR);
    }

    /** There were short names first, and then came long ones. */
    @Test
    @Tag("H191")
    void listThatWasFoundHarmless_andIsLostAgain_isTooLarge_forAMinute() {
        listed("short");
        loseTwice(() -> list());
        findHarmless(5000);
        list();
        lose();
        assertTooLarge(5000);
        scheduler.advance(LostReads.DOUBTED_FOR.minusNanos(1));
        assertTooLarge(5000);
        scheduler.advance(Duration.ofNanos(1));
        findHarmless(5000);
        list();
        lose();
        scheduler.advance(LostReads.DOUBTED_FOR.multipliedBy(2).minusNanos(1));
        assertTooLarge(5000);
        scheduler.advance(Duration.ofNanos(1));
        findHarmless(5000);
        assertThat(asked).filteredOn("children"::equals).as("connections lost").hasSize(1 + 2 + 2);
    }

    @Test
    @Tag("H191")
    void listThatWasFoundHarmless_andIsLostAgain_isReadIfItIsShort() {
        loseTwice(() -> list());
        for (int i = 0; i < 20; i++) {
            findHarmless(900);
            list();
            lose();
        }
        assertThat(answers).doesNotContain(Code.MARSHALLINGERROR);
    }

    @Test
    @Tag("H191")
    void listThatIsAnswered_isBelievedAgain() {
        listed("short");
        loseTwice(() -> list());
        findHarmless(5000);
        list();
        lose();
        findHarmless(4000);
        listed("short");
        loseTwice(() -> list());
        findHarmless(5000);
    }

    @Test
    @Tag("H191")
    void namesThatAreLongerThanUsual_areTooManyAfterTwoMistakes() {
        loseTwice(() -> list());
        for (int i = 0; i < 2; i++) {
            findHarmless(3000);
            list();
            lose();
        }
        assertTooLarge(3000);
    }

    /** As those of a semaphore, whose limit is the data of its path. */
    @Test
    @Tag("H191")
    void listAndDataThatAreReadTogether_areAddedUp() {
        List<Op> both = List.of(Op.getChildren("/a"), Op.getData("/a"));
        loseTwice(() -> measured.multi(both, this::note));
        measured.multi(both, this::note);
        answer(sized(15_000, 4000));
        String printed = PrintedWhile.running(() -> answer(sized(15_000, 4000)));
        assertThat(answers).last().isEqualTo(Code.MARSHALLINGERROR);
        assertThat(printed).as("the larger part").contains("/a has 4000 children");
    }

    /** Most names are far shorter than what is assumed of those of a path that was not listed yet. */
    @Test
    @Tag("H191")
    void listsThatAreReadTogether_areAddedUpAfterOneMistake() {
        loseTwice(() -> measured.multi(READS, this::note));
        measured.multi(READS, this::note);
        answer(sized(0, 3000));
        answer(sized(0, 3000));
        assertThat(asked).last().isEqualTo("multi");
        lose();
        measured.multi(READS, this::note);
        answer(sized(0, 3000));
        answer(sized(0, 3000));
        assertThat(answers).last().isEqualTo(Code.MARSHALLINGERROR);
    }

    private void listed(String name) {
        list();
        answer(Answer.ok(new Children(Collections.nCopies(2000, name), new Stat())));
    }

    private void findHarmless(int children) {
        examineList(children, Code.CONNECTIONLOSS);
    }

    private void assertTooLarge(int children) {
        examineList(children, Code.MARSHALLINGERROR);
    }

    private void examineList(int children, Code expected) {
        list();
        assertThat(asked).last().isEqualTo("acl");
        answer(sized(0, children));
        assertThat(answers).last().isEqualTo(expected);
    }

    /** Each of them is asked about, until one is too large. */
    @Test
    @Tag("H75")
    void severalPathsLostTwice_areReadTogether_onlyIfEachFits_andTheOneThatDoesNotIsNamed() {
        loseTwice(() -> measured.multi(READS, this::note));
        asked.clear();
        measured.multi(READS, this::note);
        answer(sized(0, 3));
        assertThat(asked).containsExactly("acl", "acl");
        String printed = PrintedWhile.running(() -> answer(sized(0, 50_000)));
        assertThat(printed).contains("/b has 50000 children", "Remove what does not belong there");
        assertThat(asked).hasSize(2);
        assertThat(answers).last().isEqualTo(Code.MARSHALLINGERROR);

        measured.multi(READS, this::note);
        assertThat(PrintedWhile.running(() -> answer(sized(0, 50_000))))
                .as("told once")
                .isEmpty();
    }

    @Test
    @Tag("H75")
    void requestAboveTheLimit_isNotSent() {
        write(DEFAULT);
        scheduler.run();
        assertThat(asked).isEmpty();
        assertThat(answers).containsExactly(Code.MARSHALLINGERROR);
        write(DEFAULT - 1000);
        assertThat(asked).containsExactly("multi");
    }

    /** Of a client; a server may have a lower one. */
    @Test
    @Tag("H75")
    void requestBelowARaisedLimit_isNotSentAfterTwoLosses_unlessOneIsAnswered() {
        ZKClientConfig config = new ZKClientConfig();
        config.setProperty(ZKClientConfig.JUTE_MAXBUFFER, String.valueOf(4 * DEFAULT));
        handle = Optional.of(mock(ZooKeeper.class));
        when(handle.get().getClientConfig()).thenReturn(config);
        ZooKeeperOperations raised = measured();
        write(raised, DEFAULT);
        lose();
        write(raised, DEFAULT);
        answer(Answer.failed(Code.NONODE));
        loseTwice(() -> write(raised, DEFAULT));
        assertThat(asked).hasSize(4).containsOnly("multi");
        write(raised, DEFAULT);
        scheduler.run();
        assertThat(asked).hasSize(4);
        assertThat(answers).last().isEqualTo(Code.MARSHALLINGERROR);
        write(raised, 7);
        assertThat(asked).hasSize(5);
    }

    /** The client prepends a chroot to each path, which is not measured. */
    @Test
    @Tag("H191")
    void requestAboveHalfTheLimit_isNotSentAfterTwoLosses_forAMinute() {
        loseTwice(() -> write(DEFAULT / 2));
        assertRefused(DEFAULT / 2);
        write(DEFAULT / 2 - 100);
        assertThat(asked).as("smaller than what was lost").hasSize(3);
        scheduler.advance(LostReads.DOUBTED_FOR.minusNanos(1));
        assertRefused(DEFAULT / 2);
        scheduler.advance(Duration.ofNanos(1));
        write(DEFAULT / 2);
        assertThat(asked).hasSize(4);
        lose();
        scheduler.advance(LostReads.DOUBTED_FOR.multipliedBy(2).minusNanos(1));
        assertRefused(DEFAULT / 2);
        scheduler.advance(Duration.ofNanos(1));
        write(DEFAULT / 2);
        answer(Answer.failed(Code.NONODE));
        write(DEFAULT / 2);
        assertThat(asked).hasSize(6);
    }

    @Test
    @Tag("H191")
    void smallRequests_areSentHoweverOftenTheyAreLost() {
        loseTwice(() -> write(DEFAULT / 2 - 100));
        loseTwice(() -> write(DEFAULT / 2 - 100));
        assertThat(asked).hasSize(4);
    }

    /** One of them is too large, and takes the other one's connection along. */
    @Test
    @Tag("H191")
    void requestThatIsAnswered_clearsOnlyWhatIsNotLarger() {
        int size = DEFAULT / 4 * 3;
        for (int i = 0; i < 2; i++) {
            write(DEFAULT - 1000);
            write(size);
            lose(2 * i);
            lose(2 * i + 1);
            states.accept(State.DISCONNECTED);
            states.accept(State.CONNECTED);
        }
        assertRefused(size);
        write(size - 1);
        assertThat(asked).hasSize(5);
        scheduler.advance(LostReads.DOUBTED_FOR);
        write(size);
        answer(Answer.failed(Code.NONODE));
        write(DEFAULT - 1000);
        lose();
        assertRefused(DEFAULT - 1000);
        write(size);
        lose();
        write(size);
        assertThat(asked).hasSize(9);
    }

    @Test
    @Tag("H191")
    void lossesThatAreFarApart_doNotCountTogether() {
        for (int i = 0; i < 5; i++) {
            write(DEFAULT - 1000);
            lose();
            scheduler.advance(LostReads.DOUBTED_FOR.multipliedBy(2).plusNanos(1));
        }
        write(DEFAULT - 1000);
        assertThat(asked).hasSize(6);
    }

    private void assertRefused(int bytes) {
        int sent = asked.size();
        write(bytes);
        scheduler.run();
        assertThat(asked).hasSize(sent);
        assertThat(answers).last().isEqualTo(Code.MARSHALLINGERROR);
    }

    /** The server says so and then closes the connection. */
    @Test
    @Tag("H114")
    void serverThatDoesNotKnowContainers_getsPersistentNodes() {
        container();
        underWay.get(0).accept(Answer.failed(Code.UNIMPLEMENTED));
        underWay.get(1).accept(Answer.failed(Code.CONNECTIONLOSS));
        container();
        underWay.get(2).accept(Answer.failed(Code.NODEEXISTS));
        assertThat(asked).containsExactly("createContainer", "multi", "multi");
        assertThat(answers).containsExactly(Code.CONNECTIONLOSS, Code.NODEEXISTS);
    }

    @Test
    @Tag("H114")
    void containersAtWhichThreeConnectionsAreCut_areNotAskedForAgain() {
        for (int i = 0; i < 3; i++) {
            container();
            container();
            cut();
        }
        assertThat(asked).hasSize(6).containsOnly("createContainer");
        container();
        assertThat(asked).last().isEqualTo("multi");
    }

    /** All that is under way goes with the connection. */
    private void cut() {
        List.copyOf(underWay).forEach(reply -> reply.accept(Answer.failed(Code.CONNECTIONLOSS)));
        underWay.clear();
        states.accept(State.DISCONNECTED);
        states.accept(State.CONNECTED);
    }

    /** The server was not there, or the network, which says nothing about containers. */
    @Test
    @Tag("H114")
    void containersLostBehindOthers_areAskedForAgain() {
        for (int i = 0; i < 6; i++) {
            if (i % 2 == 0) {
                measured.children("/other" + i, this::note);
            } else {
                write(7);
            }
            container();
            cut();
        }
        container();
        assertThat(asked).last().isEqualTo("createContainer");
    }

    @Test
    @Tag("H114")
    void cutsThatAreFarApart_areForgotten() {
        for (int i = 0; i < 6; i++) {
            container();
            cut();
            scheduler.advance(Containers.LONGEST_BETWEEN.plusNanos(1));
        }
        container();
        assertThat(asked).hasSize(7).containsOnly("createContainer");
    }

    @Test
    @Tag("H114")
    void whatIsKnownByCuts_isForgottenAfterAnHour() {
        for (int i = 0; i < 3; i++) {
            container();
            cut();
        }
        scheduler.advance(Containers.KNOWN_FOR);
        container();
        assertThat(asked).last().isEqualTo("multi");
        scheduler.advance(Duration.ofNanos(1));
        container();
        assertThat(asked).last().isEqualTo("createContainer");
    }

    @Test
    @Tag("H114")
    void containerThatIsAnswered_clearsTheServers() {
        for (int i = 0; i < 6; i++) {
            container();
            underWay.get(i).accept(Answer.failed(i % 3 == 2 ? Code.NONODE : Code.CONNECTIONLOSS));
            states.accept(State.DISCONNECTED);
            states.accept(State.CONNECTED);
        }
        container();
        assertThat(asked).hasSize(7).containsOnly("createContainer");
    }

    /** As a new counter of a path is made. */
    @Test
    @Tag("H114")
    void containerAmongOtherOperations_becomesAPersistentNode() {
        container();
        underWay.get(0).accept(Answer.failed(Code.UNIMPLEMENTED));
        List<Op> given = List.of(
                Op.delete("/a", -1),
                Op.create("/a", new byte[] {7}, ZooDefs.Ids.READ_ACL_UNSAFE, CreateMode.CONTAINER));
        measured.multi(given, this::note);
        assertThat(operationsAsked)
                .last(LIST)
                .isEqualTo(List.of(
                        Op.delete("/a", -1),
                        Op.create("/a", new byte[] {7}, ZooDefs.Ids.READ_ACL_UNSAFE, CreateMode.PERSISTENT)));
    }

    private void note(Answer<?> answer) {
        answers.add(answer.code());
    }

    private void container() {
        measured.createContainer("/a", ZooDefs.Ids.OPEN_ACL_UNSAFE, this::note);
    }

    private void list() {
        measured.children("/a", this::note);
    }

    private void read() {
        measured.read("/a", this::note);
    }

    private void write(int bytes) {
        write(measured, bytes);
    }

    private void write(ZooKeeperOperations measured, int bytes) {
        measured.multi(List.of(Op.setData("/a", new byte[bytes], -1)), this::note);
    }

    private void answer(Answer<?> answer) {
        underWay.get(underWay.size() - 1).accept(answer);
    }

    private static Answer<Access> sized(int data, int children) {
        Stat stat = new Stat();
        stat.setDataLength(data);
        stat.setNumChildren(children);
        return Answer.ok(new Access(List.of(), stat));
    }

    private void lose() {
        lose(underWay.size() - 1);
    }

    private void lose(int which) {
        underWay.get(which).accept(Answer.failed(Code.CONNECTIONLOSS));
    }

    private void loseTwice(Runnable request) {
        for (int i = 0; i < 2; i++) {
            request.run();
            lose();
        }
    }

    private ZooKeeperOperations measured() {
        ZooKeeperOperations.Factory handles = told -> {
            states = told;
            return operations();
        };
        return new MeasuredOperations(handles, scheduler, new Containers(false, scheduler), state -> {});
    }

    /** Mockito would change the classes that other tests measure. */
    private ZooKeeperOperations operations() {
        return (ZooKeeperOperations) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {ZooKeeperOperations.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "initialState" -> State.CONNECTED;
                    case "handle" -> handle;
                    default -> {
                        asked.add(method.getName());
                        operationsAsked.add(arguments[0]);
                        underWay.add(replyOf(arguments));
                        yield null;
                    }
                });
    }

    @SuppressWarnings("unchecked")
    private static Consumer<Answer<?>> replyOf(Object[] request) {
        return (Consumer<Answer<?>>) request[request.length - 1];
    }
}
