// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.zkrecipes.core.IncompatibleNodeException;
import dev.zkrecipes.core.LockException;
import dev.zkrecipes.core.LockOptions;
import dev.zkrecipes.core.internal.LockNodeDriver;
import dev.zkrecipes.core.internal.TestDriver;
import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.core.spi.SharedRuleDriver;
import dev.zkrecipes.core.spi.port.Answer;
import dev.zkrecipes.core.spi.port.ZooKeeperOperations.Children;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class LockQueueTest {
    private final LockSpec spec = new LockSpec(
            new ArrayList<>(ZooDefs.Ids.OPEN_ACL_UNSAFE),
            "/locks/orders",
            new TestDriver("lock-"),
            LockOptions.defaults());

    private static LockNode node(int number) {
        return LockNode.parse("lock-000000000" + number, "lock-").orElseThrow();
    }

    private LockQueue queueOf(List<String> names) {
        return new LockQueue(spec, names, null);
    }

    @Test
    @Tag("H10")
    @Tag("H30")
    void queue_isSortedByNumberWithoutForeignChildren() {
        LockQueue queue = new LockQueue(
                spec,
                List.of("lock-0000000010", "0", "f".repeat(32) + "-lock-0000000009", "lock--000000001", "config"),
                null);
        assertThat(queue.nodes()).extracting(LockNode::number).containsExactly(-1L, 9L, 10L);
    }

    @Test
    @Tag("H101")
    void folderOfCuratorsSemaphores_isRefused_butNotTheFolderBesideIt() {
        assertThatThrownBy(() -> queueOf(List.of("lock-0000000001", "leases")))
                .isInstanceOf(IncompatibleNodeException.class)
                .hasMessageStartingWith("the lock path /locks/orders has the child /locks/orders/leases, ")
                .hasMessageContaining("InterProcessSemaphoreMutex")
                .hasMessageContaining("another path")
                .hasMessageEndingWith("delete /locks/orders/leases and /locks/orders/locks once nobody uses Curator's")
                .extracting("node")
                .isEqualTo("leases");
        assertThat(queueOf(List.of("locks", "lease", "leases2", "Leases")).nodes())
                .isEmpty();
    }

    @Test
    @Tag("H09")
    void nodeMissingFromTheList_isNotDecidedOn() {
        LockQueue queue = queueOf(List.of("lock-0000000001", "lock-0000000002"));
        assertThat(queue.contains(node(3))).isFalse();
        assertThat(queue.decideOnOwn(node(3))).isNull();
        assertThat(queue.contains(node(1))).isTrue();
        assertThat(queue.decideOnOwn(node(1))).isEqualTo(Decision.granted());
        assertThat(queueOf(List.of()).contains(node(1))).isFalse();
    }

    @Test
    void driver_isShownWhatStandsInFrontOnly() {
        LockQueue queue = queueOf(List.of("lock-0000000003", "lock-0000000001", "lock-0000000002"));
        List<LockNode> nodes = queue.nodes();
        assertThat(queue.decide(nodes.get(0))).isEqualTo(Decision.granted());
        assertThat(queue.decide(nodes.get(2))).isEqualTo(Decision.waitFor(nodes.subList(0, 2)));
        LockNode between = new LockNode("x-lock-0000000002", "lock-", "", 2);
        assertThat(queue.decide(between)).isEqualTo(Decision.waitFor(nodes.subList(0, 2)));
    }

    @Test
    @Tag("H05")
    void sharedNumber_isNeverDecidedOn() {
        LockQueue queue = queueOf(List.of("lock-0000000001", "a".repeat(32) + "-lock-0000000001"));
        assertThatThrownBy(() -> queue.decideOnOwn(queue.nodes().get(0)))
                .isInstanceOf(LockException.class)
                .hasMessageContaining("sequence counter of /locks/orders is exhausted");
        LockQueue single = queueOf(List.of("lock-0000000001", "lock-0000000002"));
        assertThat(single.decideOnOwn(node(1))).isEqualTo(Decision.granted());
    }

    @Test
    @Tag("H05")
    void numberOutsideTheCounter_isNeverDecidedOn() {
        LockQueue queue = queueOf(List.of("lock-2147483647"));
        assertThatThrownBy(() -> queue.decideOnOwn(queue.nodes().get(0)))
                .isInstanceOf(LockException.class)
                .hasMessageContaining("lock-2147483647");
    }

    @Test
    @Tag("H66")
    void unknownKindInLockForm_isRefusedByName() {
        assertThatThrownBy(() -> queueOf(List.of("lock-0000000001", "evil\n-0000000001")))
                .isExactlyInstanceOf(IncompatibleNodeException.class)
                .hasMessageContaining("/locks/orders")
                .hasMessageContaining("evil\\u000a-0000000001")
                .extracting("node")
                .isEqualTo("evil\n-0000000001");
    }

    @Test
    void holders_areTheNodesThatTheDriverGrants() {
        LockQueue queue = queueOf(List.of("lock-0000000001", "lock-0000000002", "lock-0000000003"));
        assertThat(queue.holding()).containsExactly(node(1));
    }

    @Test
    void removedNode_isInFrontOfNobody() {
        LockQueue queue = queueOf(List.of("lock-0000000001", "lock-0000000002", "lock-0000000003", "config"));
        queue.remove("lock-0000000001");
        queue.remove("lock-0000000009");
        queue.remove("config");
        assertThat(queue.nodes()).extracting(LockNode::number).containsExactly(2L, 3L);
        assertThat(queue.decideOnOwn(node(2))).isEqualTo(Decision.granted());
        assertThat(queue.decideOnOwn(node(3))).isEqualTo(Decision.waitFor(node(2)));
    }

    private static ChildrenSnapshot listOf(String... names) {
        return ChildrenSnapshot.of(
                new ListQuery.Part("/locks/orders", false), Answer.ok(new Children(List.of(names), new Stat())), 1);
    }

    @Test
    @Tag("H88")
    void queueWithoutSome_isAnotherOne() {
        LockQueue queue = queueOf(List.of("lock-0000000001", "lock-0000000002", "lock-0000000003"));
        LockQueue left = queue.without(Set.of("lock-0000000001", "lock-0000000009"));
        assertThat(left.nodes()).containsExactly(node(2), node(3));
        assertThat(left.decide(node(2))).isEqualTo(Decision.granted());
        assertThat(queue.nodes()).containsExactly(node(1), node(2), node(3));
        assertThat(queue.decide(node(2))).isEqualTo(Decision.waitFor(node(1)));
        left.remove("lock-0000000003");
        assertThat(queue.nodes()).as("they share nothing").hasSize(3);
    }

    @Test
    @Tag("H88")
    void decisionWithoutSomeNodes_leavesTheSharedListAsItIs() {
        ChildrenSnapshot list = listOf("lock-0000000001");
        LockGroup group = LockGroup.of(spec);
        Set<String> leaving = Set.of("lock-0000000001");
        assertThat(JointDecision.onNewcomer(group, list, path -> leaving)).isEqualTo(new JointDecision.Granted());
        assertThat(JointDecision.onNewcomer(group, list, path -> Set.of()))
                .isEqualTo(new JointDecision.Wait(List.of(Decision.waitFor(node(1)))));
        assertThat(list.queue(spec).nodes()).containsExactly(node(1));
    }

    @Test
    void grantIfSomeWereGone_isAskedAboutWithoutTheirGoing() {
        LockQueue queue = queueOf(List.of("lock-0000000001", "lock-0000000002", "lock-0000000003"));
        assertThat(queue.wouldGrantWithout(List.of(node(1), node(2)), node(3))).isTrue();
        assertThat(queue.wouldGrantWithout(List.of(node(2)), node(3))).isFalse();
        assertThat(queue.nodes()).containsExactly(node(1), node(2), node(3));
        assertThat(queue.decide(node(3))).isEqualTo(Decision.waitFor(List.of(node(1), node(2))));
    }

    @Test
    @Tag("H04")
    void nodeInFrontOfAnother_isAskedAboutWithoutBeingThere() {
        LockQueue queue = queueOf(List.of("lock-0000000002", "lock-0000000003"));
        assertThat(queue.wouldBeBlockedBy(node(1), node(2))).isTrue();
        assertThat(queue.nodes()).hasSize(2);
        LockQueue free = queueUnder(new TestDriver("lock-", Integer.MAX_VALUE));
        assertThat(free.wouldBeBlockedBy(node(0), node(1))).isFalse();
    }

    @Test
    void nodeInFrontOfAnother_isShownInItsPlace() {
        List<List<LockNode>> shown = new ArrayList<>();
        LockNodeDriver showing = (predecessors, self) -> {
            shown.add(List.copyOf(predecessors));
            return Decision.granted();
        };
        LockQueue queue = new LockQueue(
                new LockSpec(spec.acl(), "/locks/orders", showing, LockOptions.defaults()),
                List.of("lock-0000000001", "lock-0000000003", "lock-0000000004"),
                null);
        shown.clear();
        assertThat(queue.wouldBeBlockedBy(node(2), node(4))).isFalse();
        assertThat(shown).containsExactly(List.of(node(1), node(2), node(3)));
    }

    @Test
    void queueOfAList_isSortedOnceForEqualDrivers_andAnewForOthers() {
        ChildrenSnapshot list = listOf("lock-0000000001");
        LockQueue queue = list.queue(spec);
        LockSpec equal = new LockSpec(spec.acl(), "/locks/orders", new TestDriver("lock-"), LockOptions.defaults());
        assertThat(list.queue(equal)).isSameAs(queue);
        LockSpec other = new LockSpec(
                spec.acl(), "/locks/orders", new TestDriver("lock-", Integer.MAX_VALUE), LockOptions.defaults());
        assertThat(list.queue(other)).isNotSameAs(queue);
        LockSpec elsewhere = new LockSpec(spec.acl(), "/locks/other", new TestDriver("lock-"), LockOptions.defaults());
        assertThat(list.queue(elsewhere).nodes()).isEmpty();
    }

    @Test
    void nodesOfOneNumber_doNotStandInFrontOfEachOther() {
        LockQueue first = queueOf(
                List.of("a".repeat(32) + "-lock-0000000001", "b".repeat(32) + "-lock-0000000001", "lock-0000000002"));
        assertThat(first.holding())
                .containsExactlyInAnyOrder(first.nodes().get(0), first.nodes().get(1));
        LockQueue second = queueOf(
                List.of("lock-0000000001", "a".repeat(32) + "-lock-0000000002", "b".repeat(32) + "-lock-0000000002"));
        assertThat(second.holding()).containsExactly(node(1));
    }

    @Test
    @Tag("H05")
    void numberOutsideTheCounter_neverHolds() {
        LockQueue queue = queueOf(List.of("lock-2147483647"));
        assertThat(queue.holding()).isEmpty();
    }

    @Test
    void nodeRefusedByTheRule_holdsIfTheRuleMayHaveChanged() {
        LockQueue shared = queueUnder(new RefusingSharedDriver());
        assertThat(shared.holding()).containsExactly(node(1));
        LockNodeDriver refusing = (predecessors, self) -> Decision.never("of the rule");
        LockQueue fixed = queueUnder(refusing);
        assertThat(fixed.holding()).isEmpty();
    }

    private LockQueue queueUnder(LockDriver driver) {
        LockSpec refusing = new LockSpec(spec.acl(), "/locks/orders", driver, LockOptions.defaults());
        return new LockQueue(refusing, List.of("lock-0000000001"), null);
    }

    private record RefusingSharedDriver() implements SharedRuleDriver, LockNodeDriver {
        @Override
        public byte[] initialRule() {
            return new byte[1];
        }

        @Override
        public LockDriver under(byte[] rule) {
            return this;
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            return Decision.never("of the rule");
        }
    }

    /** Equal whatever they ask for. */
    private record SizedDriver(int size) implements LockDriver {
        @Override
        public String nodeName() {
            return "share." + size + "-";
        }

        @Override
        public Optional<LockNode> parse(String childName) {
            return LockNode.parseWithPayload(childName, "share.");
        }

        @Override
        public Decision decide(List<LockNode> predecessors, LockNode self) {
            return Decision.grantedIfFirst(predecessors);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof SizedDriver;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }

    private static LockSpec sized(int size) {
        return new LockSpec(
                ZooDefs.Ids.OPEN_ACL_UNSAFE, "/locks/orders", new SizedDriver(size), LockOptions.defaults());
    }

    /** However many there are, the list is sorted once. */
    @Test
    @Tag("H80")
    void requestsThatDifferInWhatTheyAskFor_shareTheQueueOfAList() {
        ChildrenSnapshot list = listOf("share.2-0000000001", "share.3-0000000002");
        assertThat(list.queue(sized(2))).isSameAs(list.queue(sized(3)));
        assertThat(sized(2)).isEqualTo(sized(2)).isNotEqualTo(sized(3));
    }
}
