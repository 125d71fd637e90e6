// SPDX-License-Identifier: Apache-2.0
// Copyright the zkrecipes authors

package dev.zkrecipes.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Field;
import java.util.Arrays;
import org.apache.zookeeper.ZooDefs.OpCode;
import org.junit.jupiter.api.Test;

class RequestCountsTest {
    private final RequestCounts.Counter counter = new RequestCounts.Counter();

    @Test
    void total_excludesRequestsOfTheSessionItself() {
        counter.add(RequestType.CREATE);
        counter.add(RequestType.CREATE);
        counter.add(RequestType.PING);
        counter.add(RequestType.CREATE_SESSION);
        counter.add(RequestType.RESUME_SESSION);
        counter.add(RequestType.CLOSE_SESSION);
        counter.add(RequestType.SET_WATCHES);
        RequestCounts counts = counter.snapshot();
        assertThat(counts.total()).isEqualTo(3);
        assertThat(counts.of(RequestType.CREATE)).isEqualTo(2);
        assertThat(counts.of(RequestType.DELETE)).isZero();
    }

    @Test
    void snapshot_doesNotChange() {
        RequestCounts before = counter.snapshot();
        counter.add(RequestType.MULTI);
        assertThat(before.of(RequestType.MULTI)).isZero();
        assertThat(before).isNotEqualTo(counter.snapshot());
        assertThat(counter.snapshot()).isEqualTo(counter.snapshot()).hasSameHashCodeAs(counter.snapshot());
    }

    @Test
    void minus_isTheDifference_andRefusesTheWrongOrder() {
        counter.add(RequestType.MULTI);
        RequestCounts before = counter.snapshot();
        counter.add(RequestType.SYNC);
        RequestCounts after = counter.snapshot();
        assertThat(after.minus(before).of(RequestType.SYNC)).isEqualTo(1);
        assertThat(after.minus(before).of(RequestType.MULTI)).isZero();
        assertThatThrownBy(() -> before.minus(after))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("later.minus(earlier)");
    }

    @Test
    void toString_listsNonZeroCounts() {
        counter.add(RequestType.CREATE2);
        counter.add(RequestType.GET_CHILDREN2);
        assertThat(counter.snapshot()).hasToString("2 requests [CREATE2=1, GET_CHILDREN2=1]");
        counter.add(RequestType.PING);
        assertThat(counter.snapshot()).hasToString("2 requests [CREATE2=1, GET_CHILDREN2=1], apart [PING=1]");
    }

    @Test
    void everyOperationCodeOfZooKeeper_hasAType() {
        assertThat(Arrays.stream(OpCode.class.getFields())
                        .filter(code -> !code.getName().equals("notification")
                                && !code.getName().equals("error"))
                        .filter(code -> RequestType.ofOpCode(valueOf(code)) == RequestType.OTHER))
                .isEmpty();
        assertThat(RequestType.ofOpCode(4711)).isEqualTo(RequestType.OTHER);
    }

    private static int valueOf(Field code) {
        try {
            return code.getInt(null);
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }
}
