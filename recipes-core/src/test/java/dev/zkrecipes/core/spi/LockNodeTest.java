// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.core.spi;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LockNodeTest {
    private static final String ID = "0123456789abcdef0123456789ABCDEF";
    private static final String CURATORS_ID = "_c_01234567-89ab-cdef-0123-456789abcdef";

    private static LockNode node(String name) {
        return LockNode.parse(name, "lock-").orElseThrow();
    }

    @ParameterizedTest
    @CsvSource({
        ID + "-lock-0000000001, 1",
        CURATORS_ID + "-lock-0000000001, 1",
        "01234567-89ab-cdef-0123-456789abcdef-lock-0000000007, 7",
        "lock-0000000000, 0",
        "lock-2147483646, 2147483646",
        "lock-2147483647, 2147483647",
        "lock--2147483648, -2147483648",
        "lock--000000001, -1",
        "lock-99999999999, 99999999999"
    })
    void nodesOfOursOfCuratorsAndBareOnes_areRecognised(String name, long number) {
        LockNode node = node(name);
        assertThat(node.name()).isEqualTo(name);
        assertThat(node.kind()).isEqualTo("lock-");
        assertThat(node.payload()).isEmpty();
        assertThat(node.number()).isEqualTo(number);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "lock-",
                "lock-1",
                "lock-00000001",
                "lock-0000000001x",
                "lock-0000000001\n",
                "xlock-0000000001",
                "x-lock-0000000001",
                "Lock-0000000001",
                "lock_0000000001",
                "lock---000000001",
                "lock-lock-0000000001",
                ID + "lock-0000000001",
                "-lock-0000000001",
                "_c_-lock-0000000001",
                ID + "-" + ID + "-lock-0000000001",
                "0123456789abcdef-lock-0000000001",
                ID + "-__WRIT__0000000001",
                "lock-\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661\u0661",
                "lock-9999999999999999999"
            })
    void otherNames_areNot(String name) {
        assertThat(LockNode.parse(name, "lock-")).isEmpty();
    }

    @Test
    void kindWithoutADash_isFollowedByTheNumberAtOnce() {
        assertThat(LockNode.parse(ID + "-__READ__0000000003", "__READ__"))
                .map(LockNode::number)
                .contains(3L);
        assertThat(LockNode.parse(ID + "-__READ__-000000003", "__READ__"))
                .map(LockNode::number)
                .contains(-3L);
    }

    @ParameterizedTest
    @CsvSource({
        "range.0.10-0000000001, 0.10, 1",
        "range.-0000000001, '', 1",
        "range.a_B~9.z--2147483648, a_B~9.z, -2147483648"
    })
    void payload_standsBetweenKindAndNumber(String rest, String payload, long number) {
        LockNode node = LockNode.parseWithPayload(ID + "-" + rest, "range.").orElseThrow();
        assertThat(node.payload()).isEqualTo(payload);
        assertThat(node.number()).isEqualTo(number);
        assertThat(node.kind()).isEqualTo("range.");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"range.a b-0000000001", "range.a-b-0000000001", "range.a/b-0000000001", "range.a0000000001"})
    void payloadOfOtherCharacters_isNotRecognised(String rest) {
        assertThat(LockNode.parseWithPayload(ID + "-" + rest, "range.")).isEmpty();
    }

    @Test
    void payload_isAtMostEightyCharacters() {
        assertThat(LockNode.parseWithPayload("range." + "x".repeat(80) + "-0000000001", "range."))
                .isPresent();
        assertThat(LockNode.parseWithPayload("range." + "x".repeat(81) + "-0000000001", "range."))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "lock-0000000001",
                "__WRIT__0000000001",
                ID + "__lock__0000000001",
                "x-72057594037927936-0000000001",
                "lock--2147483648",
                "a\nb-0000000001",
                "n_0000000000"
            })
    @Tag("H66")
    void nameEndingInASequenceNumber_hasLockForm(String name) {
        assertThat(LockNode.isLockForm(name)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "config", "0000000001", "-000000001", "lock-", "lock-1", "lock-000000001x", "sub"})
    @Tag("H30")
    void otherNames_doNotHaveLockForm(String name) {
        assertThat(LockNode.isLockForm(name)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"lock--2147483648", "lock--000000001", "lock-2147483647", "lock-99999999999"})
    @Tag("H05")
    void numberOutsideTheCounter_standsBeforeEverybodyAndIsNotOrdinary(String name) {
        LockNode strange = node(name);
        assertThat(strange.hasOrdinaryNumber()).isFalse();
        assertThat(strange).isLessThan(node("lock-0000000000"));
        assertThat(strange).isLessThan(node(ID + "-lock-0000000001"));
    }

    @Test
    void ordinaryNumbers_endOneBeforeTheCounterSticks() {
        assertThat(node("lock-0000000000").hasOrdinaryNumber()).isTrue();
        assertThat(node("lock-" + LockNode.LAST_NUMBER).hasOrdinaryNumber()).isTrue();
        assertThat(LockNode.LAST_NUMBER).isEqualTo(2147483646);
    }

    @Test
    @Tag("H10")
    void order_isByNumberAndThenByName() {
        LockNode high = node("f".repeat(32) + "-lock-0000000001");
        LockNode low = node("0".repeat(32) + "-lock-0000000002");
        assertThat(high).isLessThan(low);
        LockNode sameNumber = node("e".repeat(32) + "-lock-0000000001");
        assertThat(sameNumber).isLessThan(high);
    }

    @Test
    @Tag("H05")
    void nodes_areOrderedByNumberNotByText() {
        assertThat(node("lock-999999999")).isLessThan(node("lock-1000000000"));
    }

    /** Any shuffle is sorted to the same list, and no two different nodes are equal in order. */
    @Test
    @Tag("H05")
    void order_isTotal() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<LockNode> nodes = new ArrayList<>();
        for (String number :
                List.of("0000000000", "0000000001", "2147483646", "2147483647", "-2147483648", "-000000001")) {
            for (String id : List.of(ID + "-", CURATORS_ID + "-", "")) {
                nodes.add(node(id + "lock-" + number));
            }
        }
        List<LockNode> sorted = nodes.stream().sorted().toList();
        for (int i = 0; i < 100; i++) {
            Collections.shuffle(nodes, random);
            assertThat(nodes.stream().sorted().toList()).as("seed " + seed).isEqualTo(sorted);
        }
        for (int i = 1; i < sorted.size(); i++) {
            assertThat(sorted.get(i - 1)).isLessThan(sorted.get(i));
            assertThat(sorted.get(i)).isGreaterThan(sorted.get(i - 1));
        }
    }
}
