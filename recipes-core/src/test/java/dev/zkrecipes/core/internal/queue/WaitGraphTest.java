// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.Deadlock.Member;
import dev.zkrecipes.core.internal.queue.WaitGraph.Circle;
import dev.zkrecipes.core.internal.wire.OwnerLabel;
import dev.zkrecipes.core.internal.wire.Printable;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Content;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nodes are written as their path; the number at the end is that of the transaction that made them, too. */
class WaitGraphTest {
    private static final Instant NOW = Instant.ofEpochSecond(100);
    private static final String A1 = "/a/lock-0000000001";
    private static final String B2 = "/b/lock-0000000002";
    private static final String B3 = "/b/lock-0000000003";
    private static final String A3 = "/a/lock-0000000003";
    private static final String B4 = "/b/lock-0000000004";
    private static final String A4 = "/a/lock-0000000004";

    private final WaitGraph graph = new WaitGraph();
    private long session; // of the nodes that are added

    private void add(String path, String... holds) {
        String lock = path.substring(0, path.lastIndexOf('/'));
        LockNode node = LockNode.ofAnyKind(path.substring(lock.length() + 1)).orElseThrow();
        Stat stat = new Stat();
        stat.setCzxid(node.number());
        stat.setEphemeralOwner(session);
        stat.setCtime(NOW.minusSeconds(node.number()).toEpochMilli());
        byte[] data = OwnerLabel.withHolds(OwnerLabel.encode("owner of " + path), List.of(holds));
        graph.add(lock, node, new Content(data, stat));
    }

    private void addTwoMutexesInOppositeOrder() {
        add(A1);
        add(B2);
        add(B3, A1);
        add(A4, B2);
    }

    private Optional<Circle> through(String... request) {
        return graph.through(List.of(request), NOW);
    }

    @Test
    void twoMutexesInOppositeOrder_areACircle_thatBeginsWithWhoAsks() {
        addTwoMutexesInOppositeOrder();
        Circle circle = through(B3).orElseThrow();
        assertThat(circle.isCertain()).isTrue();
        assertThat(circle.members())
                .containsExactly(
                        new Member("owner of " + B3, B3, Optional.of(A1), Duration.ofSeconds(3)),
                        new Member("owner of " + A4, A4, Optional.of(B2), Duration.ofSeconds(4)));
        assertThat(circle.nodes()).containsExactlyInAnyOrder(A1, B2, B3, A4);
        assertThat(circle.youngest()).isEqualTo(A4);
        assertThat(through(A4).orElseThrow().youngest()).isEqualTo(A4);
    }

    /** Names are written by anybody, and the log shows them. */
    @Test
    void namesOfNodes_areFitToPrint() {
        Member member = new Member("x", "/a/\u202elock-0000000001", Optional.of("/b/\u2028"), Duration.ZERO);
        assertThat(member.toString().codePoints()).allMatch(Printable::isPlain);
    }

    @Test
    void eachCircle_isFoundOnce_amongAllNodes() {
        addTwoMutexesInOppositeOrder();
        add("/a/lock-0000000005");
        add("/c/lock-0000000006", B2);
        assertThat(graph.circles(NOW)).hasSize(1);
    }

    /** It waits for ever, too; but the others do not wait for each other because of it. */
    @Test
    void whoHoldsNothing_andStandsBetween_hasNoCircleOfItsOwn() {
        add(A1);
        add(B2);
        add(A3);
        add(B4, A1);
        add("/a/lock-0000000005", B2);
        assertThat(graph.circles(NOW))
                .singleElement()
                .satisfies(circle -> assertThat(circle.members()).hasSize(2));
    }

    @Test
    void whoHoldsNothing_orWaitsInOrder_isInNoCircle() {
        add(A1);
        add(B2, A1);
        add(B3);
        add(A4);
        assertThat(through(A4)).isEmpty();
        assertThat(graph.circles(NOW)).isEmpty();
    }

    /** It has gone since its data were written. */
    @Test
    void heldNodeThatIsGone_closesNoCircle() {
        add(A1);
        add(B3, A1);
        add(A4, B2);
        assertThat(through(B3)).isEmpty();
    }

    /** Whoever may write one queue could otherwise say who holds what in another one. */
    @Test
    @Tag("H182")
    void nodeOfAnotherSession_isHeldByNobodyElse() {
        session = 1;
        add(A1);
        add(B4, A1);
        session = 2;
        add(B2);
        session = 3;
        add(A3, B2);
        assertThat(through(B4)).isEmpty();
        assertThat(graph.circles(NOW)).isEmpty();
    }

    /** A leader beside a mutex on its path: each has a queue of its own. */
    @Test
    @Tag("H182")
    void nodeOfAnotherKnownRule_isNotWaitedForWithCertainty() {
        add(A1);
        add(B2);
        add(B3, A1);
        add("/a/latch-0000000004", B2);
        assertThat(through(B3).orElseThrow().isCertain()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 4, 8})
    void longCircle_isFoundFromEachMember(int size) {
        for (int i = 0; i < size; i++) {
            add(holder(i));
            add(waiter(i, size), holder(i));
        }
        for (int i = 0; i < size; i++) {
            assertThat(through(waiter(i, size)).orElseThrow().members()).hasSize(size);
        }
    }

    private static String holder(int member) {
        return "/" + member + "/lock-0000000001";
    }

    private static String waiter(int member, int size) {
        return "/" + (member + 1) % size + "/lock-000000000" + (member + 2);
    }

    @Test
    void readers_doNotWaitForReaders() {
        add("/a/__READ__0000000001");
        add(B2);
        add(B3, "/a/__READ__0000000001");
        add("/a/__READ__0000000004", B2);
        assertThat(graph.circles(NOW)).isEmpty();
        add("/a/__WRIT__0000000005", B2);
        assertThat(graph.circles(NOW)).hasSize(1);
    }

    /** The second reader waits for the writer, and the writer for the first reader. */
    @Test
    void readerBehindAWriterThatWaits_isInACircle_withoutAHoldOfTheWriter() {
        add("/a/__READ__0000000001");
        add("/a/__WRIT__0000000002");
        add("/a/__READ__0000000003", "/b/lock-0000000004");
        add("/b/lock-0000000004");
        add("/b/lock-0000000005", "/a/__READ__0000000001");
        Circle circle = through("/b/lock-0000000005").orElseThrow();
        assertThat(circle.isCertain()).isTrue();
        assertThat(circle.members())
                .extracting(Member::node)
                .containsExactly("/b/lock-0000000005", "/a/__READ__0000000003", "/a/__WRIT__0000000002");
        assertThat(circle.members().get(2).holds()).isEmpty();
        assertThat(circle.youngest()).isEqualTo("/b/lock-0000000005");
    }

    @Test
    void circleThroughALockOfAnotherRule_isNotCertain_andACertainOneGoesFirst() {
        add("/a/seat-0000000001");
        add(B2);
        add(B3, "/a/seat-0000000001");
        add("/a/seat-0000000004", B2);
        assertThat(through(B3).orElseThrow().isCertain()).isFalse();
        add("/c/lock-0000000005", "/d/lock-0000000006");
        add("/d/lock-0000000006");
        add("/d/lock-0000000007", B2);
        add("/b/lock-0000000008", "/d/lock-0000000006");
        assertThat(through("/b/lock-0000000008", B3).orElseThrow().isCertain()).isTrue();
    }

    /** One of the nodes with which a request waits for several locks keeps somebody else waiting. */
    @Test
    @Tag("H181")
    void requestForSeveralLocks_isACircle_byItsPlaceInAnotherQueue() {
        add("/a/lock-0000000001");
        add("/x/lock-0000000002");
        add("/b/lock-0000000003");
        add("/x/lock-0000000004", "/a/lock-0000000001");
        assertThat(through("/x/lock-0000000004", "/b/lock-0000000003")).isEmpty();
        add("/b/lock-0000000005", "/x/lock-0000000002");
        Circle circle = through("/x/lock-0000000004", "/b/lock-0000000003").orElseThrow();
        assertThat(circle.members()).hasSize(2);
        assertThat(circle.members().get(0).holds()).contains("/b/lock-0000000003");
        // Its data do not name that node, so the other member, which is younger, does not see the circle.
        assertThat(circle.youngest()).isEqualTo("/x/lock-0000000004");
    }

    /** One transaction has made its nodes. */
    @Test
    void requestForSeveralLocks_whoseThreadHoldsNothing_isFoundAmongAllNodes() {
        add("/x/lock-0000000002");
        add("/x/lock-0000000004");
        add("/b/lock-0000000004");
        add("/b/lock-0000000005", "/x/lock-0000000002");
        assertThat(graph.circles(NOW))
                .singleElement()
                .satisfies(circle -> assertThat(circle.nodes())
                        .containsExactlyInAnyOrder(
                                "/x/lock-0000000002",
                                "/x/lock-0000000004",
                                "/b/lock-0000000004",
                                "/b/lock-0000000005"));
    }

    /** Whatever the nodes say, a circle is one: each member waits behind what the next one has. */
    @Test
    void circlesOfRandomQueues_areCircles() {
        Random random = new Random(7);
        for (int play = 0; play < 3_000; play++) {
            WaitGraphTest test = new WaitGraphTest();
            List<String> nodes = new ArrayList<>();
            for (int number = 1; number < 9; number++) {
                String node = "/" + random.nextInt(3) + "/lock-000000000" + number;
                String[] holds =
                        nodes.stream().filter(earlier -> random.nextInt(4) == 0).toArray(String[]::new);
                nodes.add(node);
                test.add(node, holds);
            }
            Collections.shuffle(nodes, random);
            test.graph.circles(NOW).forEach(circle -> assertIsCircle(circle.members()));
        }
    }

    private static void assertIsCircle(List<Member> members) {
        for (int i = 0; i < members.size(); i++) {
            Member waiting = members.get(i);
            Member next = members.get((i + 1) % members.size());
            String front = next.holds().orElse(next.node());
            assertThat(lockOf(front)).isEqualTo(lockOf(waiting.node()));
            assertThat(front).isLessThan(waiting.node());
        }
    }

    private static String lockOf(String node) {
        return node.substring(0, node.lastIndexOf('/'));
    }
}
