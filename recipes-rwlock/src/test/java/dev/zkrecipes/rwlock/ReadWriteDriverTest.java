// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.rwlock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.zkrecipes.core.spi.LockDriver;
import dev.zkrecipes.core.spi.LockNode;
import dev.zkrecipes.test.contract.LockDriverContract;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ReadWriteDriverTest extends LockDriverContract {
    private static final String READ = "__READ__";
    private static final String WRITE = "__WRIT__";

    @Override
    protected List<LockDriver> drivers() {
        return List.of(ReadWriteDriver.values());
    }

    @Override
    protected boolean compatible(List<LockNode> holders) {
        return holders.size() == 1 || holders.stream().noneMatch(ReadWriteDriverTest::isWriter);
    }

    private static boolean isWriter(LockNode node) {
        return node.kind().equals(WRITE);
    }

    @Test
    @Tag("H71")
    void reader_waitsForTheNearestWriter_andAWriterForTheNearestNode() {
        assertEachWaitsForTheNearest((one, self) -> isWriter(one) || isWriter(self));
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
    void numberOfAnExhaustedCounter_isParsed(ReadWriteDriver driver) {
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
