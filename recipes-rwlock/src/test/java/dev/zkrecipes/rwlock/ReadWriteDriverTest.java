// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.rwlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.spi.Decision;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.test.contract.DriverLaws;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ReadWriteDriverTest {
    private static final int LONGEST = 6;
    private static final String READ = "__READ__";
    private static final String WRITE = "__WRIT__";

    private static Stream<List<LockNode>> queues() {
        return DriverLaws.queues(ReadWriteDriver.READ, List.of(READ, WRITE), LONGEST);
    }

    private static ReadWriteDriver driverOf(LockNode node) {
        return isWriter(node) ? ReadWriteDriver.WRITE : ReadWriteDriver.READ;
    }

    private static boolean isWriter(LockNode node) {
        return node.kind().equals(WRITE);
    }

    @Test
    void bothDrivers_keepTheLaws() {
        queues().forEach(queue -> DriverLaws.check(driverOf(queue.get(LONGEST - 1)), queue));
    }

    @Test
    void eitherDriver_decidesByTheKindOfTheNode() {
        queues().forEach(queue -> {
            LockNode self = queue.get(LONGEST - 1);
            List<LockNode> inFront = queue.subList(0, LONGEST - 1);
            assertThat(ReadWriteDriver.READ.decide(inFront, self))
                    .isEqualTo(ReadWriteDriver.WRITE.decide(inFront, self));
        });
    }

    @Test
    @Tag("H71")
    void reader_waitsForTheNearestWriter_andAWriterForWhoeverIsNearest() {
        queues().forEach(queue -> DriverLaws.checkNearest(
                driverOf(queue.get(LONGEST - 1)), queue, (one, self) -> isWriter(one) || isWriter(self)));
    }

    @Test
    void writer_neverHoldsBesideAnybody_andAllReadersUpToTheFirstWriterHold() {
        queues().forEach(queue -> {
            List<LockNode> holders = IntStream.range(0, LONGEST)
                    .filter(i -> driverOf(queue.get(i)).decide(queue.subList(0, i), queue.get(i))
                            instanceof Decision.Granted)
                    .mapToObj(queue::get)
                    .toList();
            List<LockNode> expected = isWriter(queue.get(0))
                    ? queue.subList(0, 1)
                    : queue.stream().takeWhile(node -> !isWriter(node)).toList();
            assertThat(holders).isEqualTo(expected);
        });
    }

    @ParameterizedTest
    @EnumSource
    void names_areThoseOfCurator_withoutADashBeforeTheNumber(ReadWriteDriver driver) {
        assertThat(driver.nodeName()).isEqualTo("__" + driver.name().substring(0, 4) + "__");
        for (String kind : List.of(READ, WRITE)) {
            assertThat(driver.parse("_c_01234567-89ab-cdef-0123-456789abcdef-" + kind + "0000000042"))
                    .get()
                    .returns(kind, LockNode::kind)
                    .returns(42L, LockNode::number);
        }
    }

    @ParameterizedTest
    @EnumSource
    @Tag("H05")
    void numberOfACounterThatIsExhausted_isUnderstood(ReadWriteDriver driver) {
        assertThat(driver.parse("0123456789abcdef0123456789abcdef-__WRIT__-2147483648"))
                .get()
                .returns(false, LockNode::hasOrdinaryNumber);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0123456789abcdef0123456789abcdef-lock-0000000042",
                "0123456789abcdef0123456789abcdef-__read__0000000042",
                "0123456789abcdef0123456789abcdef-__WRITE__0000000042",
                "0123456789abcdef0123456789abcdef-__READ__42",
                "__READ__",
                ""
            })
    void otherNames_areNotKnown(String name) {
        for (ReadWriteDriver driver : ReadWriteDriver.values()) {
            assertThat(driver.parse(name)).isEmpty();
        }
    }
}
